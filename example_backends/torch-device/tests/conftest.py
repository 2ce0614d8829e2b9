import pytest

# Not an error of a test: these tests have a step of their own on one Python.
pytest.importorskip("torch", reason="PyTorch is not installed")
