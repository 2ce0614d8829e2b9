"""A function of the library comes in; a dispatchable function goes out."""
