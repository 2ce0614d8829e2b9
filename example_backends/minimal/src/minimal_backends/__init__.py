"""Two backends for the library."""

from spatch_core import BackendImplementation

precise, rough = BackendImplementation("precise"), BackendImplementation("rough")


@precise.implements("minimal:sqrt")
def decimal_sqrt(x):
    return x.sqrt()


@rough.implements("minimal:sqrt", should_run=lambda _, x: x >= 0 or "it is for positive numbers")
def rough_sqrt(x):
    return round(x**0.5, 3)
