"""Two backends for the library."""


def decimal_sqrt(x):
    """Return the square root of a decimal number to the context's precision."""
    return x.sqrt()


def rough_sqrt(x):
    """Return the square root to three digits."""
    return round(x**0.5, 3)


def is_positive(context, x):
    """Say why rough roots are not for negative numbers."""
    return x >= 0 or "rough roots are for positive numbers"
