#!/bin/sh
# Fetches NVRTC from PyPI into .cache/nvrtc/<package>-<version> and prints the file of its library. Compiling CUDA C needs no GPU.
# usage: tools/nvrtc.sh [cu12|cu13|PACKAGE==VERSION]
set -eu
export PIP_ROOT_USER_ACTION=ignore
cd "$(dirname "$0")/.."
case "${1:-cu12}" in
cu12) spec=nvidia-cuda-nvrtc-cu12==12.9.86 ;;
cu13) spec=nvidia-cuda-nvrtc==13.0.88 ;;
*) spec=$1 ;;
esac
dir=$PWD/.cache/nvrtc/$(echo "$spec" | tr -c 'A-Za-z0-9.\n-' _)
find_library() { find "$dir" -name 'libnvrtc.so.*' 2>/dev/null | grep -v -e builtins -e alt | head -1; }
if [ -z "$(find_library)" ]; then
	mkdir -p "$dir"
	python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$dir" "$spec" >&2 || { rm -rf "$dir"; exit 1; }
fi
find_library
