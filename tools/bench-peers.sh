#!/usr/bin/env bash
# Prints ratios against torch.profiler, HTA and the TensorBoard plugin on this machine, and compares diffs with the plugin's;
# options go to tools/bench_peers.py.
# The peers are set up once in .cache/peers from PyPI, pinned in tools/requirements-peers.txt (GANDER_PEERS names the Python
# of an environment that has them already).
set -euo pipefail
cd "$(dirname "$0")/.."
python=${GANDER_PEERS:-}
if [ -z "$python" ]; then
    venv=.cache/peers
    stamp=$venv/stamp-$(cksum <tools/requirements-peers.txt | cut -d' ' -f1)
    if [ ! -f "$stamp" ]; then
        echo "bench-peers: setting up PyTorch, HTA and the TensorBoard plugin in $venv (once; downloads up to 3 GB)" >&2
        rm -rf "$venv"
        python3 -m venv "$venv"
        "$venv/bin/pip" install --quiet --disable-pip-version-check -r tools/requirements-peers.txt >&2
        touch "$stamp"
    fi
    python=$venv/bin/python
fi
mkdir -p build
go build -o build/bench_peers ./tools/bench_peers
go build -o bin/gander ./cmd/gander
"$python" tools/bench_peers.py build/bench_peers bin/gander "$@"
echo "== ranges of the plugin's diff view"
GANDER_PLUGIN_PYTHON=$(realpath -s "$(command -v "$python")") go test ./profiler/analyze -run DiffIsThePlugins -v | grep -v '^=== '
