"""Calls that a hook sees come in; records of them go out."""
