#!/usr/bin/env bash
# Finds Chromium (or Chrome) and prints its path; installs Debian's package when there is none and that is possible.
set -euo pipefail
for name in chromium chromium-browser google-chrome google-chrome-stable; do
    if path=$(command -v "$name"); then
        echo "$path"
        exit 0
    fi
done
if command -v apt-get >/dev/null; then
    sudo=; [ "$(id -u)" = 0 ] || sudo=sudo
    echo "chromium: installing Debian's package for the browser tests" >&2
    $sudo apt-get update -qq >&2 || true
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 chromium fonts-dejavu >&2
    command -v chromium
    exit 0
fi
echo "chromium: there is none here; install Chromium or Chrome to run the browser tests" >&2
exit 1
