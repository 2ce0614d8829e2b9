"""The optional C extension; all else is in pyproject.toml.

Without a compiler, and where it would not be right (see
`spatch_core/_function/_accelerator.c`), the package is pure Python.
``SPATCH_CORE_PURE=1`` makes a wheel of pure Python anywhere.
"""

import os
import sys
import sysconfig

from setuptools import Extension, setup

wanted = (
    sys.implementation.name == "cpython"
    and sys.version_info >= (3, 12)
    and not sysconfig.get_config_var("Py_GIL_DISABLED")
    and os.environ.get("SPATCH_CORE_PURE", "0") in ("", "0")
)
extension = Extension(
    "spatch_core._function._accelerator", ["spatch_core/_function/_accelerator.c"], optional=True
)
setup(ext_modules=[extension] if wanted else [])
