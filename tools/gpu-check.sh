#!/bin/sh
# Builds one folder that checks everything CUDA on a GPU machine without Go and without a network: build/gpu-check, or $1.
# Copy it there and run its run.sh.
#
# The folder brings libraries of NVIDIA's out of their wheels on PyPI, for machines that have a driver only, and to run the
# same checks with several of them. Their licence lets programs that use them bring them along; nothing of it is in the repository.
#
# GPU_CHECK_CUPTI="11.8.87 12.9.79"  these CUPTI; "" brings none
# GPU_CHECK_NVRTC=1  adds NVRTC (60 MB), for machines without a toolkit and without PyTorch
# GPU_CHECK_GO=1     adds the Go toolchain, so that the notebook runs there too (200 MB; the machine needs gcc)
# GPU_CHECK_PACK=1   leaves the folder packed beside it too, as build/gpu-check.tar.xz
set -eu
cd "$(dirname "$0")/.."
out=${1:-build/gpu-check}
go=${GO:-go}
rm -rf "$out"
mkdir -p "$out/bin" "$out/notebooks" "$out/lib"
$go build -ldflags='-s -w' -o "$out/bin/gander" ./cmd/gander
$go build -ldflags='-s -w' -o "$out/bin/gpucheck" ./tools/gpucheck
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

for v in ${GPU_CHECK_CUPTI-11.8.87 12.9.79 13.0.85}; do
	tools/cupti.sh "$v" >/dev/null || { echo "gpu-check: CUPTI $v could not be downloaded and is left out" >&2; continue; }
	dir="$out/lib/cupti-${v%.*}"
	mkdir -p "$dir"
	cp .cache/cupti/"$v"/libcupti.so.* "$dir/"
done
if [ "${GPU_CHECK_NVRTC:-0}" = 1 ]; then
	lib=$(tools/nvrtc.sh nvidia-cuda-nvrtc-cu11==11.8.89)
	mkdir -p "$out/lib/nvrtc"
	cp "$lib" "$(dirname "$lib")"/libnvrtc-builtins.so.* "$out/lib/nvrtc/"
fi
if [ "${GPU_CHECK_GO:-0}" = 1 ]; then
	root=$($go env GOROOT)
	mkdir -p "$out/go" "$out/modules"
	# What building needs, without tests.
	(cd "$root" && tar -c --exclude='*_test.go' --exclude=testdata --exclude=pkg/tool/*/cover --exclude=pkg/tool/*/vet bin/go go.env VERSION pkg/include pkg/tool src lib/time 2>/dev/null) | tar -x -C "$out/go"
	$go mod download github.com/petermattis/goid github.com/traefik/yaegi
	mods=$($go env GOMODCACHE)
	for m in github.com/petermattis github.com/traefik cache/download/github.com/petermattis cache/download/github.com/traefik; do
		mkdir -p "$out/modules/$(dirname "$m")"
		cp -r "$mods/$m" "$out/modules/$m"
	done
fi
packed=""
if [ "${GPU_CHECK_PACK:-0}" = 1 ]; then
	tar -c -C "$(dirname "$out")" "$(basename "$out")" | xz -T0 >"$out.tar.xz"
	packed=", packed $(du -sh "$out.tar.xz" | cut -f1) in $out.tar.xz"
fi
echo "gpu-check: $(du -sh "$out" | cut -f1) in $out$packed; copy it to a machine with a GPU and run $out/run.sh there"
