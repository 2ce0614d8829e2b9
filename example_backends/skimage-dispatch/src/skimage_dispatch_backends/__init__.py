"""Backends of `skimage_dispatch`: threads for NumPy arrays, and Dask arrays."""
