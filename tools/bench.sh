#!/usr/bin/env bash
# Prints the figures of this machine: the kernel beside ipykernel, and the Go benchmarks of the hot paths.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(tools/jupyter.sh test)
prefix=$("$python" -c 'import sys; print(sys.prefix)')
bin/gander install --prefix "$prefix" >&2
export JUPYTER_PATH="$prefix/share/jupyter"
echo "== kernel beside ipykernel ($(nproc) cores, $(go version))"
"$python" tools/bench_kernel.py "$@"
echo "== compiled cells beside go build"
go test ./kernel/eval/native -run '^$' -bench . -benchtime 8x
echo "== statement cells over packages, interpreted and compiled"
go test ./tests/conformance -run '^$' -bench . -benchtime 10x
echo "== recording, analysis, traces"
go test ./profiler/record ./profiler ./profiler/insession ./profiler/analyze ./profiler/kineto ./profiler/trace ./profiler/gotrace ./render -run '^$' -bench . -benchmem
echo "== large traces through the command"
"$python" tools/bench_report.py
echo "== what each source costs: compare the lines of one kind of work"
go test ./profiler/goruntime -run '^$' -bench 'Overhead|StartStop' -benchtime 0.5s -count 3
