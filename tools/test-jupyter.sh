#!/usr/bin/env bash
# Runs tests/jupyter with real clients against the kernel built here, in the project's own Jupyter.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(tools/jupyter.sh test)
prefix=$("$python" -c 'import sys; print(sys.prefix)')
[ -w "$prefix/share" ] || prefix=$PWD/.cache/kernels
bin/gander install --prefix "$prefix"
export JUPYTER_PATH="$prefix/share/jupyter" PYTHONDONTWRITEBYTECODE=1 PYDEVD_DISABLE_FILE_VALIDATION=1
# The tests' history is not the user's.
JUPYTER_DATA_DIR=$(mktemp -d)
export JUPYTER_DATA_DIR
trap 'rm -rf "$JUPYTER_DATA_DIR"' EXIT
suite=(tests/jupyter)
if ! "$python" -c 'import jupyter_kernel_test' 2>/dev/null; then
    echo "SKIPPED: jupyter_kernel_test is not in this Jupyter (it comes from PyPI); only the client tests run" >&2
    suite=(tests/jupyter/test_clients.py)
fi
"$python" -m pytest -q -p no:cacheprovider "$@" "${suite[@]}"
