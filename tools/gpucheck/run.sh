#!/bin/sh
# Checks Gander's CUDA on this machine; see README.md, CUDA. Results are left in the folder out.
#
# GPU_CHECK_FLAGS  more flags for gpucheck, such as -overhead 1.2
set -u
cd "$(dirname "$0")"
mkdir -p out
export XDG_CACHE_HOME="${XDG_CACHE_HOME:-$PWD/out/cache}"
if [ -d go ]; then
	export PATH="$PWD/go/bin:$PATH" GOROOT="$PWD/go" GOMODCACHE="$PWD/modules" GOPROXY=off GOFLAGS=-mod=mod GOTOOLCHAIN=local GONOSUMDB='*'
fi
if [ -n "${GANDER_LIBCUDA:-}" ]; then
	echo "GANDER_LIBCUDA is set: these results are of $GANDER_LIBCUDA and say nothing about a GPU unless that is a driver."
fi
bin/gander doctor >out/doctor.txt 2>&1
if [ -z "${GANDER_LIBCUPTI:-}" ] && ! grep -q '^✓ CUPTI' out/doctor.txt && [ -f lib/libcupti.so.12 ]; then
	export GANDER_LIBCUPTI="$PWD/lib/libcupti.so.12"
fi
if [ -z "${GANDER_LIBNVRTC:-}" ] && ! grep -q '^✓ NVRTC' out/doctor.txt && [ -f lib/libnvrtc.so.12 ]; then
	export GANDER_LIBNVRTC="$PWD/lib/libnvrtc.so.12"
fi
bin/gander doctor >out/doctor.txt 2>&1
cat out/doctor.txt
echo
# shellcheck disable=SC2086 # flags are words
bin/gpucheck -expected expected.json -json out/report.json -trace out/trace.json ${GPU_CHECK_FLAGS:-} >out/checks.txt 2>&1
code=$?
cat out/checks.txt
[ $code = 2 ] && exit 2
bin/gander report out/trace.json -o out/trace.html >out/trace.txt 2>&1 || { echo "FAILED   report: $(tail -1 out/trace.txt)"; code=1; }

if ! command -v go >/dev/null 2>&1 || ! command -v "${CC:-gcc}" >/dev/null 2>&1; then
	echo "skipped  notebooks                    cells that define functions are compiled, and there is no Go or no C compiler here (GPU_CHECK_GO=1 brings Go along)"
elif bin/gander run notebooks/cuda.ipynb -o out/cuda.ipynb --html out/cuda.html >out/notebook.txt 2>&1; then
	if grep -q '^ *"skipped:' out/cuda.ipynb; then # of outputs; the source has it behind other text
		echo "skipped  notebooks                    a part of cuda.ipynb: $(grep '^ *"skipped:' out/cuda.ipynb | head -1 | cut -d'"' -f2 | tr -d '\\' | sed 's/n$//')"
	else
		echo "passed   notebooks                    cuda.ipynb"
	fi
else
	echo "FAILED   notebooks                    cuda.ipynb: $(tail -1 out/notebook.txt)"
	code=1
fi
exit $code
