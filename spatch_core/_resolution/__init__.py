"""Dispatch types and a dispatch state come in; the candidates of a call go out."""
