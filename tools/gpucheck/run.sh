#!/bin/sh
# Checks Gander's CUDA on this machine, in at most five minutes (eight with the notebook); see README.md, CUDA. What is
# printed is also left in the folder out beside this file, or in $GPU_CHECK_OUT, with all results in results.tar.gz.
#
# GPU_CHECK_NOTEBOOK_LIMIT  seconds that the notebook may take, 180 by default: the first cell builds the session process
# GPU_CHECK_FLAGS  more flags for gpucheck, such as -overhead 1.2 or -parts workload,torch
set -u
cd "$(dirname "$0")" || exit 2
here=$PWD
out=${GPU_CHECK_OUT:-$here/out}
mkdir -p "$out"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME="$scratch/cache"
limited() { # limited SECONDS COMMAND...: one that hangs is ended
	if command -v timeout >/dev/null 2>&1; then timeout -k 5 "$@"; else shift && "$@"; fi
}

checks() {
	if [ -n "${GANDER_LIBCUDA:-}" ]; then
		echo "GANDER_LIBCUDA is set: these results are of $GANDER_LIBCUDA and say nothing about a GPU unless that is a driver."
	fi
	limited 60 bin/gander doctor 2>&1 | tee "$out/doctor.txt"
	if command -v nvidia-smi >/dev/null 2>&1; then limited 20 nvidia-smi -q >"$out/nvidia-smi.txt" 2>&1; fi
	echo
	# shellcheck disable=SC2086 # flags are words
	limited 290 bin/gpucheck -expected expected.json -json "$out/report.json" -trace "$out/trace.json" -libraries "$here/lib" -env "$scratch/env.sh" ${GPU_CHECK_FLAGS:-} 2>&1
	code=$?
	[ $code = 2 ] && return 2
	# shellcheck disable=SC1091 # written by gpucheck
	[ -f "$scratch/env.sh" ] && . "$scratch/env.sh"
	for t in trace torch-model; do
		[ -f "$out/$t.json" ] || continue
		limited 60 bin/gander report "$out/$t.json" -o "$out/$t.html" >"$scratch/report.txt" 2>&1 || { echo "FAILED   report                       $t.json: $(tail -1 "$scratch/report.txt")"; code=1; }
	done
	notebook || code=1
	return $code
}

# The notebook needs Go and a C compiler, because cells that define functions are compiled.
notebook() {
	if [ -d go ]; then
		mkdir -p "$scratch/modules"
		cp -r modules/. "$scratch/modules/" # Go wants to write there
		export PATH="$here/go/bin:$PATH" GOROOT="$here/go" GOMODCACHE="$scratch/modules" GOPROXY=off GOFLAGS=-mod=mod GOTOOLCHAIN=local GONOSUMDB='*' GOCACHE="$scratch/go-build" GOPATH="$scratch/gopath"
	fi
	if ! command -v go >/dev/null 2>&1 || ! command -v "${CC:-gcc}" >/dev/null 2>&1; then
		echo "skipped  notebooks                    cells that define functions are compiled, and there is no Go or no C compiler here (GPU_CHECK_GO=1 brings Go along)"
		return 0
	fi
	if ! limited "${GPU_CHECK_NOTEBOOK_LIMIT:-180}" bin/gander run notebooks/cuda.ipynb -o "$out/cuda.ipynb" --html "$out/cuda.html" >"$out/notebook.txt" 2>&1; then
		echo "FAILED   notebooks                    cuda.ipynb: $(tail -1 "$out/notebook.txt")"
		return 1
	fi
	if grep -q '^ *"skipped:' "$out/cuda.ipynb"; then # of outputs; the source has it behind other text
		echo "skipped  notebooks                    a part of cuda.ipynb: $(grep '^ *"skipped:' "$out/cuda.ipynb" | head -1 | cut -d'"' -f2 | tr -d '\\' | sed 's/n$//')"
	else
		echo "passed   notebooks                    cuda.ipynb"
	fi
}

{
	checks
	echo $? >"$scratch/code"
} 2>&1 | tee "$out/checks.txt"
code=$(cat "$scratch/code")
(cd "$out" && rm -f results.tar.gz && tar -czf "$scratch/results.tar.gz" . && mv "$scratch/results.tar.gz" . && echo "results in $out/results.tar.gz")
exit "$code"
