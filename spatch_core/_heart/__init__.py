"""Dispatchable functions come in; the entries of their tables go out."""
