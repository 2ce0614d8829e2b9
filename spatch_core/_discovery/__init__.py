"""Entry points and environment variables come in; a `Catalog` of usable backends goes out."""
