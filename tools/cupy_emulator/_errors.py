"""Exceptions of the emulator."""

from __future__ import annotations


class Unavailable(Exception):  # noqa: N818 - the name reads well without a suffix
    """The emulator cannot be used here: a compiler or CuPy is missing."""


class NotEmulated(BaseException):
    """A feature of CuPy or CUDA that the emulator lacks.

    This is not an `Exception`, so that code that falls back to SciPy after an error does not
    hide it. Otherwise SciPy would be compared with itself.

    Parameters
    ----------
    what : str
        The name of the function or kernel.
    needs : str
        What emulating it would require.
    """

    def __init__(self, what: str, needs: str) -> None:
        super().__init__(what, needs)
        self.what = what
        self.needs = needs

    def __str__(self) -> str:
        return f"{self.what} is not emulated: {self.needs}"


class Missing:
    """A placeholder for a function or class that is not emulated; using it raises `NotEmulated`.

    CuPy's modules import names, decorate functions and create kernels that most calls never use.

    Parameters
    ----------
    what, needs : str
        See `NotEmulated`.
    """

    def __init__(self, what: str, needs: str) -> None:
        self._what = what
        self._needs = needs
        self.__name__ = what.rpartition(".")[2]

    def __call__(self, *args: object, **kwargs: object) -> object:
        raise NotEmulated(self._what, self._needs)

    def __getattr__(self, name: str) -> object:
        # Introspection reads these names.
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotEmulated(f"{self._what}.{name}", self._needs)

    def __getitem__(self, key: object) -> object:
        raise NotEmulated(self._what, self._needs)
