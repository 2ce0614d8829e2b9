"""The order of the bases of a class that takes part in functions of NumPy or PyTorch."""

from __future__ import annotations

from .._patterns import mro_of


def check_bases(cls: type, served: type, package: str, method: str) -> None:
    """Raise if a class of NumPy or PyTorch goes before the class of a system, `served`.

    Then its own method of the protocol would answer, and no backend be asked.
    """
    for base in mro_of(cls):
        if base is served:
            return
        if base.__module__.partition(".")[0] == package and method in vars(base):
            name = f"{package}.{base.__qualname__}"
            raise TypeError(
                f"{cls.__qualname__} has the {method} of {name}, so that no backend is asked: "
                f"write {package}_functions(...) before {name} among its bases"
            )
