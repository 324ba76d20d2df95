#!/usr/bin/env bash
# Opens JupyterLab (or the classic Notebook, where there is only that) on the project's notebooks, with the kernel built
# here.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(tools/jupyter.sh notebook)
prefix=$("$python" -c 'import sys; print(sys.prefix)')
if [ "$prefix" = "$PWD/.cache/jupyter" ]; then
    bin/gander install --prefix "$prefix"
else
    bin/gander install --user
fi
export PATH="$(dirname "$python"):$PATH" # the jupyter command runs what it finds there
if "$python" -c 'import jupyterlab' 2>/dev/null; then
    exec "$python" -m jupyter lab "$@" notebooks/quickstart.ipynb
fi
exec "$python" -m jupyter notebook "$@" notebooks/quickstart.ipynb
