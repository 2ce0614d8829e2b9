"""The backends of a library: listed, explained, registered, and discovered again."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from .._call.caller import Caller
    from .._description import Description
    from .._discovery import Catalog
    from .._errors import Problem
    from .._loading import Loader
    from .._resolution.explanation import Explanation
    from .._resolution.notices import Notices
    from .dispatcher import Dispatcher


class Backends:
    """The part of a `BackendSystem` that needs its backends; using it discovers them."""

    if TYPE_CHECKING:  # no annotations at run time, which would need the names
        group: str | None
        environ_prefix: str
        _dispatcher: Dispatcher
        _default_types: tuple[str, ...]
        _secondary_types: tuple[str, ...]
        _in_code: tuple[Any, ...]
        _registered: tuple[Description, ...]
        _fallback: str
        protocol: str | None
        _defer_on: tuple[type[Exception], ...]
        _notices: Notices | None

    @property
    def backends(self) -> Mapping[str, Description]:
        """Descriptions of all usable backends by priority; ``"default"`` is the library."""
        from .listed_backends import ListedBackends  # a library needs it later

        return ListedBackends(dict(self._catalog().descriptions))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything that was skipped or ignored, and why."""
        return self._catalog().problems

    def reload(self) -> None:
        """Discover the backends again, e.g. after one was installed in a running session.

        The environment variables are read again too. Blocks of options that are in force
        stay in force. Modules that were imported are not imported again. Users call
        ``backend_opts.reload()``, which does the same.
        """
        self._loading.reload(self._dispatcher)

    def refresh(self) -> None:
        """Look up all implementations, and values of attributes, in their modules again.

        Otherwise they are looked up once, on first use. Call this, for example, after a test has
        replaced one in its module. Nothing is discovered or imported again.
        """
        from .loading import refresh  # few programs need it

        refresh(self._dispatcher)

    def register(self, description: Any) -> None:
        """Add a backend at run time.

        It counts as installed: it takes no call that the library or another backend of the library
        answers. It takes the place of an installed backend of the same name.

        Parameters
        ----------
        description : mapping or object
            As an entry point has it; identifiers may be callables.

        Raises
        ------
        DescriptionError
            If it has faults; nothing has changed.
        ValueError
            If a backend of this name was registered before, or is the library's own.
        """
        from .._loading import register  # few libraries need it

        register(self, description)

    def unregister(self, name: str) -> None:
        """Take a backend away that was registered at run time.

        Parameters
        ----------
        name : str
            Its name.

        Raises
        ------
        UnknownBackendError
            A `ValueError`: no backend of this name was registered.
        """
        from .._loading import unregister

        unregister(self, name)

    def adopt(self, function: Callable[..., Any], identity: str) -> None:
        """Put a function that the library does not own into its tables, without a wrapper.

        The function itself stays as it is. Backends implement it by its identity; `lookup` finds
        an implementation for given types.

        Parameters
        ----------
        function : callable
            The function. It is only called with arguments that a backend has converted.
        identity : str
            ``"module:qualname"``.

        Raises
        ------
        IdentifierError
            If `identity` is malformed.
        ValueError
            If another function has the identity, or the function has another identity.
        TypeError
            If it is no function.
        """
        from .adopting import adoption_of  # few libraries need it

        adoption_of(self).adopt(function, identity)

    def lookup(self, identity: str, types: tuple[type, ...], /) -> Callable[..., Any] | None:
        """Return the callable for an adopted function and types.

        Parameters
        ----------
        identity : str
            The identity of an adopted function.
        types : tuple of type
            The types of the call, in order.

        Returns
        -------
        callable or None
            None if no backend would take the call. A backend may defer by ``NotImplemented``,
            which is then the result.

        Raises
        ------
        UnknownFunctionError
            A `KeyError`: no function was adopted by this identity.
        TypeError
            If `types` are not classes.
        """
        from .adopting import adoption_of  # few libraries need it

        return adoption_of(self).lookup(identity, types)

    def explain_types(self, identifier: str, types: Iterable[type]) -> Explanation:
        """Explain what would run for dispatch arguments of these types.

        Parameters
        ----------
        identifier : str
            A function of the library, ``"module:qualname"``.
        types : iterable of type
            Types of the dispatch arguments.

        Returns
        -------
        Explanation
            Without the answers of any ``should_run``, which needs the arguments.

        Raises
        ------
        UnknownFunctionError
            A `KeyError`: the library has no such function.
        TypeError
            If `types` are not classes.
        """
        from .introspection import explain_types  # a library needs it later

        return explain_types(self._dispatcher, identifier, types)

    @property
    def _loader(self) -> Loader[Caller]:
        return self._dispatcher.ensure_loader()

    def _make_loader(self) -> Loader[Caller]:
        made: Loader[Caller] = self._loading.make_loader(
            self, self._dispatcher, self._in_code, self._default_types, self._secondary_types
        )
        return made

    @property
    def _loading(self) -> Any:
        from . import loading  # a library needs it later

        return loading

    def _catalog(self) -> Catalog:
        """Return the catalog of the backends, for tools; discovers them if needed."""
        return self._dispatcher.catalog()

    def restore(self, kind: str, content: dict[str, Any]) -> Any:
        """Make an object of this library from the content of a pickle; pickles call it.

        Parameters
        ----------
        kind : str
            ``"options"``, ``"function"`` or ``"invocation"``.
        content : dict
            Its content, whose format stays the same in later versions.

        Returns
        -------
        object
            Options, a function with frozen options, or the result of a function's ``invoke``.

        Raises
        ------
        ValueError
            If a later version made the pickle, with content that this version does not know.
        """
        from .unpickling import restore  # few programs need it

        return restore(self._dispatcher, kind, content)
