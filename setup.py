"""The optional C extensions; everything else is in pyproject.toml.

The package is pure Python without a compiler, and on interpreters that the extensions do not
support (see `spatch_core/_function/_accelerator.c`). ``SPATCH_CORE_PURE=1`` builds a pure-Python
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
extensions = [
    Extension(f"spatch_core._function.{name}", [f"spatch_core/_function/{name}.c"], optional=True)
    for name in ("_accelerator", "_lookup")
]
setup(ext_modules=extensions if wanted else [])
