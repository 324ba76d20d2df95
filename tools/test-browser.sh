#!/usr/bin/env bash
# Runs the tests that drive JupyterLab and Perfetto in headless Chromium. Screenshots go to build/screenshots.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(tools/jupyter.sh test)
if ! "$python" -c 'import jupyterlab' 2>/dev/null; then
    echo "SKIPPED: this machine has only the classic Notebook; the tests in JupyterLab did NOT run" >&2
    exit 0
fi
prefix=$("$python" -c 'import sys; print(sys.prefix)')
bin/gander install --prefix "$prefix"
CHROMIUM=$(tools/chromium.sh)
mkdir -p build/screenshots
GANDER_PERFETTO=$(tools/perfetto.sh)
export GANDER_PERFETTO
GANDER_PYTHON=$python GANDER_SCREENSHOTS=$PWD/build/screenshots GANDER_CHROMIUM=$CHROMIUM \
    go test -count=1 -timeout 30m ./tests/browser/...
