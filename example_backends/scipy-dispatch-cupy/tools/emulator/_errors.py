"""What the emulator raises."""

from __future__ import annotations


class Unavailable(Exception):  # noqa: N818 - it reads as what it says
    """The emulator cannot be used here: no compiler, or no CuPy to read."""


class NotEmulated(BaseException):
    """Something of CuPy's, or of CUDA's, that the emulator does not have.

    It is no `Exception`, so that code which goes on without CuPy after an error, as
    ``cupy-offload`` does, does not hide it: SciPy would be compared with itself.

    Parameters
    ----------
    what : str
        The name of the function, or of the kernel.
    needs : str
        What it would take.
    """

    def __init__(self, what: str, needs: str) -> None:
        super().__init__(what, needs)
        self.what = what
        self.needs = needs

    def __str__(self) -> str:
        return f"{self.what} is not emulated: {self.needs}"


class Missing:
    """Stands for a function or a class that is not emulated, until it is used.

    Modules of CuPy import names, decorate functions and make kernels that most calls never
    come to.

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
        if name.startswith("_"):  # which is asked for to find out what this is
            raise AttributeError(name)
        raise NotEmulated(f"{self._what}.{name}", self._needs)

    def __getitem__(self, key: object) -> object:
        raise NotEmulated(self._what, self._needs)
