#!/usr/bin/env bash
# Runs tests/jupyter with real clients against the kernel built here, in the project's own Jupyter.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(tools/jupyter.sh test)
prefix=$("$python" -c 'import sys; print(sys.prefix)')
bin/gander install --prefix "$prefix"
export JUPYTER_PATH="$prefix/share/jupyter" PYTHONDONTWRITEBYTECODE=1 PYDEVD_DISABLE_FILE_VALIDATION=1
# The tests' history is not the user's.
JUPYTER_DATA_DIR=$(mktemp -d)
export JUPYTER_DATA_DIR
trap 'rm -rf "$JUPYTER_DATA_DIR"' EXIT
"$python" -m pytest -q -p no:cacheprovider "$@" tests/jupyter
