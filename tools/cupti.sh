#!/bin/sh
# Fetches NVIDIA's profiling library of several CUDA versions from PyPI into .cache/cupti/<version>/libcupti.so.*, for the test that
# compares its records with our layouts (cuda/cupti). Reading its versions and sizes needs no GPU and no driver.
# usage: tools/cupti.sh [VERSION...]   by default all
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- 11.8.87 12.0.146 12.1.105 12.2.142 12.3.101 12.4.127 12.5.82 12.6.80 12.8.90 12.9.79 13.0.85 13.1.115 13.2.86 13.3.75 13.4.92 13.5.25
for version in "$@"; do
	dir=.cache/cupti/$version
	[ -z "$(ls "$dir"/libcupti.so.* 2>/dev/null)" ] || continue
	case $version in
	11.*) package=nvidia-cuda-cupti-cu11 ;;
	12.*) package=nvidia-cuda-cupti-cu12 ;;
	*) package=nvidia-cuda-cupti ;;
	esac
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	python3 -m pip download --quiet --disable-pip-version-check --no-deps -d "$tmp" ${CUPTI_WHEELS:+--find-links "$CUPTI_WHEELS"} "$package==$version" >&2
	mkdir -p "$dir"
	python3 - "$tmp" "$dir" <<'PYTHON'
import glob, os, re, shutil, sys, zipfile
wheel, = glob.glob(sys.argv[1] + "/*.whl")
with zipfile.ZipFile(wheel) as z:
    for name in z.namelist():
        if re.search(r"/libcupti\.so\.[0-9.]+$", name):
            with z.open(name) as src, open(os.path.join(sys.argv[2], os.path.basename(name)), "wb") as dst:
                shutil.copyfileobj(src, dst)
PYTHON
	rm -rf "$tmp"
	ls "$dir"/libcupti.so.*
done
