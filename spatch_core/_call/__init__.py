"""Candidates and the arguments of a call come in; the answer goes out."""
