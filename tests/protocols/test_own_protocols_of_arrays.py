"""A library may take NumPy's or PyTorch's protocol for its own."""

from __future__ import annotations

from typing import Any

import pytest

from spatch_core import BackendSystem


def test_numpys_protocol_is_the_librarys_own() -> None:
    """K3: instances have the method, as NumPy calls it; that of NumPy's array does not override."""
    np = pytest.importorskip("numpy")
    system = BackendSystem(None, "OWN_ARRAYS", ["~numpy:ndarray"], protocol="__array_function__")

    @system.dispatchable(["x", "y"], identifier="lib:f")
    def f(x: Any, y: Any = None) -> Any:
        return "default"

    class Duck:
        def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            return self, func, [*types], args, kwargs

    class Declines:
        def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            return NotImplemented

    class Labelled(np.ndarray):  # type: ignore[misc, name-defined]  # an optional dependency
        pass

    class Calling(np.ndarray):  # type: ignore[misc, name-defined]
        def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            return "calling", super().__array_function__(func, types, args, kwargs)

    assert f(np.ones(2).view(Calling)) == ("calling", "default")
    duck, array, declines = Duck(), np.ones(2), Declines()
    assert f(array) == f(array.view(Labelled)) == "default"
    assert f(array, y=duck) == (duck, f, [Duck], (array,), {"y": duck})
    assert f(declines, duck) == (duck, f, [Declines, Duck], (declines, duck), {})
    with pytest.raises(TypeError, match="no method took it"):
        f(declines)
    assert f.explain(duck).selected == "__array_function__"


def test_pytorchs_protocol_is_the_librarys_own() -> None:
    """K3: the method of PyTorch's tensor does not override."""
    torch = pytest.importorskip("torch")
    system = BackendSystem(None, "OWN_TENSORS", ["~torch:Tensor"], protocol="__torch_function__")

    @system.dispatchable("x", identifier="lib:f")
    def f(x: Any) -> Any:
        return "default"

    class Duck:
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return cls, func, args

    tensor: Any = torch.Tensor

    class Calling(tensor):  # type: ignore[misc]
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return "calling", super().__torch_function__(func, types, args, kwargs)

    assert f(torch.ones(2).as_subclass(Calling)) == ("calling", "default")
    duck = Duck()
    assert f(torch.ones(2)) == f(torch.nn.Parameter(torch.ones(2))) == "default"
    assert f(duck) == (Duck, f, (duck,))
