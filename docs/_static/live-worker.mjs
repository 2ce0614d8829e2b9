// Runs Python in a thread of its own, so that a cell that never ends can be stopped.
import { loadPyodide } from "./live/pyodide.mjs";

const folder = new URL("./live/", import.meta.url).href;

const PYTHON = `
import contextlib, io, linecache, sys, traceback
from pyodide.code import eval_code

def run(source, name):
    """Return what a cell printed, and whether it failed."""
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    printed = io.StringIO()
    failed = False
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            value = eval_code(source, sys.modules["__main__"].__dict__, filename=name)
            if value is not None:
                print(repr(value))
        except BaseException as error:
            failed = True
            steps = error.__traceback__
            # Not the steps of what runs the cell; a SyntaxError has no others.
            while steps is not None and steps.tb_frame.f_code.co_filename != name:
                steps = steps.tb_next
            traceback.print_exception(type(error), error, steps)
    return printed.getvalue(), failed
run
`;

async function start() {
  const python = await loadPyodide({ indexURL: folder });
  const wheels = await (await fetch(`${folder}wheels.json`)).json();
  const place = python.runPython("import sysconfig; sysconfig.get_path('purelib')");
  for (const wheel of wheels) {
    const content = await (await fetch(folder + wheel)).arrayBuffer();
    python.unpackArchive(content, "wheel", { extractDir: place });
  }
  python.runPython("import importlib; importlib.invalidate_caches()");
  return { run: python.runPython(PYTHON), version: python.runPython("import sys; sys.version.split()[0]") };
}

const started = start();
started.then(
  ({ version }) => postMessage({ ready: version }),
  (error) => postMessage({ broken: String(error) }),
);

onmessage = async ({ data: { number, source } }) => {
  const { run } = await started;
  const answer = run(source, `<cell ${number}>`);
  const [text, failed] = answer.toJs();
  answer.destroy();
  postMessage({ number, text, failed });
};
