"""NumPy in, NumPy out, computed by CuPy in between."""
