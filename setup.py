"""The optional C extension; everything else is in pyproject.toml.

The package is pure Python without a compiler, and on interpreters that the extension does not
support (see `spatch_core/_accelerator.c`). ``SPATCH_CORE_PURE=1`` builds a pure-Python
wheel anywhere.
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
NAME = "_accelerator"
extension = Extension(f"spatch_core.{NAME}", [f"spatch_core/{NAME}.c"], optional=True)
setup(ext_modules=[extension] if wanted else [])
