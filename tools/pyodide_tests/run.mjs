// Runs pytest in Pyodide: node run.mjs PYODIDE PACKAGES CHECKOUT [argument of pytest ...]
import { pathToFileURL } from "node:url";

const [pyodide, packages, checkout, ...options] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`));
const python = await loadPyodide({ indexURL: `${pyodide}/` });

for (const [place, root] of [["/packages", packages], ["/checkout", checkout]]) {
  python.FS.mkdirTree(place);
  python.FS.mount(python.FS.filesystems.NODEFS, { root }, place);
}
python.globals.set("options", python.toPy(options));
const code = await python.runPythonAsync(`
import os, sys
from importlib.util import find_spec

sys.dont_write_bytecode = True
# The installed wheel goes before the checkout, from which only the tests are imported.
sys.path[:0] = ["/packages", "/checkout", "/checkout/tools", "/checkout/tools/pyodide_tests"]
os.chdir("/checkout")

import pytest

print("Python", sys.version.split()[0], "on", sys.platform, "with", find_spec("spatch_core").origin)
int(pytest.main(options))
`);
process.exit(code);
