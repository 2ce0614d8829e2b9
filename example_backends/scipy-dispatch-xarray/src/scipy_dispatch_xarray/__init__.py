"""`scipy_dispatch` with xarray's ``DataArray``: see ``backend.toml`` and ``_wrapping``."""
