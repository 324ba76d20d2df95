#!/bin/sh
# Builds one folder that checks everything CUDA on a GPU machine without Go and without a network: build/gpu-check, or $1.
# Copy it there and run its run.sh.
#
# GPU_CHECK_GO=1   adds the Go toolchain and NVRTC, so that the notebooks run there too (400 MB more; the machine needs gcc)
# GPU_CHECK_CUPTI=0 leaves out CUPTI, which is taken from PyPI for machines that have none
set -eu
export PIP_ROOT_USER_ACTION=ignore
cd "$(dirname "$0")/.."
out=${1:-build/gpu-check}
go=${GO:-go}
rm -rf "$out"
mkdir -p "$out/bin" "$out/notebooks"
$go build -o "$out/bin/gander" ./cmd/gander
$go build -o "$out/bin/gpucheck" ./tools/gpucheck
"$out/bin/gpucheck" -expect >"$out/expected.json"
cp notebooks/cuda.ipynb "$out/notebooks/"
cp tools/gpucheck/run.sh "$out/run.sh"
chmod +x "$out/run.sh"
for b in gander gpucheck; do
	if ldd "$out/bin/$b" | grep -i -e cuda -e nvidia -e cupti -e nvrtc; then
		echo "gpu-check: $b is linked with a library of NVIDIA" >&2
		exit 1
	fi
done

wheel() { # wheel NAME==VERSION FILE: one library out of a wheel into lib
	dir=.cache/wheels/$1
	if ! find "$dir" -name "$2" 2>/dev/null | grep -q .; then
		mkdir -p "$dir"
		python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$dir" "$1" || { rm -rf "$dir"; return 1; }
	fi
	mkdir -p "$out/lib"
	find "$dir" -name "$2" -exec cp {} "$out/lib/" \;
}
if [ "${GPU_CHECK_CUPTI:-1}" = 1 ]; then
	wheel nvidia-cuda-cupti-cu12==12.9.79 'libcupti.so.12' || echo "gpu-check: CUPTI could not be downloaded; the machine must have one" >&2
fi
if [ "${GPU_CHECK_GO:-0}" = 1 ]; then
	cp -r "$($go env GOROOT)" "$out/go"
	mkdir -p "$out/modules"
	$go mod download github.com/petermattis/goid github.com/traefik/yaegi
	mods=$($go env GOMODCACHE)
	for m in github.com/petermattis github.com/traefik cache/download/github.com/petermattis cache/download/github.com/traefik; do
		mkdir -p "$out/modules/$(dirname "$m")"
		cp -r "$mods/$m" "$out/modules/$m"
	done
	cp "$(tools/nvrtc.sh cu12)" "$(dirname "$(tools/nvrtc.sh cu12)")"/libnvrtc-builtins.so.* "$out/lib/"
fi
echo "gpu-check: $(du -sh "$out" | cut -f1) in $out; copy it to a machine with a GPU and run $out/run.sh there"
