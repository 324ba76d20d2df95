"""Real clients against the installed kernel: nbclient over every notebook, jupyter run, jupyter console, nbconvert."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted(p for p in (ROOT / "notebooks").glob("*.ipynb"))


# The jupyter command runs the jupyter-* programs that it finds on PATH: ours come first.
ENV = {**os.environ, "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")}


def jupyter(*args):
    return subprocess.run([sys.executable, "-m", "jupyter", *args], capture_output=True, text=True, timeout=300, env=ENV)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_nbclient_executes(path, tmp_path):
    nb = nbformat.read(path, 4)
    NotebookClient(nb, timeout=600, kernel_name="gander", resources={"metadata": {"path": str(path.parent)}}).execute()
    nbformat.validate(nb)
    for cell in nb.cells:
        if cell.cell_type == "code" and "gander-timing" not in cell.metadata.get("tags", []):
            assert cell.execution_count or not cell.source.strip()
            assert cell.metadata.get("execution", {}).get("iopub.status.idle"), "nbclient recorded no times"
            for out in cell.outputs:
                assert out.output_type != "error" or "raises-exception" in cell.metadata.get("tags", [])


def test_there_are_notebooks():
    assert NOTEBOOKS, "notebooks/ holds no notebook"


def test_jupyter_run(tmp_path):
    src = tmp_path / "hello.go"
    src.write_text('x := 41\nfmt.Println("the answer is", x+1)\n')
    done = jupyter("run", "--kernel", "gander", str(src))
    assert "the answer is 42" in done.stdout, done.stderr


def test_console(tmp_path):
    code = 'x := 20\nfmt.Println("console says", x*2+2)\nx = 7\nx * 6\nexit\n'
    done = subprocess.run(
        [sys.executable, "-m", "jupyter_console", "--kernel", "gander", "--simple-prompt", "--no-confirm-exit"],
        input=code, capture_output=True, text=True, timeout=120, env={**ENV, "JUPYTER_NO_CONFIG": "1"},
    )
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", done.stdout)
    assert "console says 42" in text, done.stdout + done.stderr
    assert re.search(r"Out\[4\]:\s*42", text), text


def test_nbconvert_shows_the_charts(tmp_path):
    """nbconvert of an executed notebook carries the same interactive chart and its fallback."""
    nb = nbformat.read(ROOT / "notebooks" / "quickstart.ipynb", 4)
    NotebookClient(nb, timeout=600, kernel_name="gander", resources={"metadata": {"path": str(ROOT / "notebooks")}}).execute()
    src = tmp_path / "quickstart.ipynb"
    nbformat.write(nb, src)
    done = jupyter("nbconvert", "--to", "html", str(src))
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "quickstart.html").read_text()
    chart = next(
        out.data["text/html"] for cell in nb.cells if cell.cell_type == "code" for out in cell.outputs
        if out.output_type == "display_data" and "application/vnd.gander.profile+json" in out.data
    )
    # nbconvert parses and writes the HTML again: the data and the script must come through untouched.
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", chart, re.S)
    assert scripts, "the chart has no script"
    for script in scripts:
        assert script in page, f"a script of the chart was changed: {script[:80]!r}"
    assert "data:image/svg+xml;base64," in page
    done = jupyter("nbconvert", "--to", "markdown", str(src))
    assert done.returncode == 0, done.stderr


def test_kernelspec_is_valid():
    done = jupyter("kernelspec", "list", "--json")
    spec = json.loads(done.stdout)["kernelspecs"]["gander"]["spec"]
    assert spec["display_name"] == "Go (gander)"
    assert spec["language"] == "go"
    assert spec["interrupt_mode"] == "message"
    assert Path(spec["argv"][0]).is_absolute()
