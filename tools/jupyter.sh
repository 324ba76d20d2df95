#!/usr/bin/env bash
# Finds or sets up a Jupyter and prints the path of its Python on standard output; says on standard error which it chose.
#
#   tools/jupyter.sh [test|notebook|installed]
#
# test        what the tests need (JupyterLab, nbclient, nbconvert, console, jupyter_kernel_test), pinned
# notebook    any JupyterLab or Notebook that can run a kernel
# installed   as notebook, but sets nothing up: prints nothing when there is none
#
# In this order: the project's own environment (.cache/jupyter) when it is there; for notebook and installed a Jupyter
# already on the machine; a new environment from PyPI with tools/requirements.txt; Debian's packages.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
want=${1:-notebook}
venv=$root/.cache/jupyter
say() { echo "jupyter: $*" >&2; }

stamp=$(cksum <"$root/tools/requirements.txt" | cut -d' ' -f1)
if [ -f "$venv/stamp-$stamp" ]; then
    say "using the project's environment in .cache/jupyter"
    echo "$venv/bin/python"
    exit 0
fi

# python_of prints the Python that runs the jupyter command given, when that can start kernels and serve notebooks.
python_of() {
    local py
    py=$(head -n 1 "$1" 2>/dev/null | sed -n 's/^#! *//p' | cut -d' ' -f1)
    [ -x "$py" ] || return 1
    "$py" - <<'PY' 2>/dev/null || return 1
import importlib.util as u, sys
sys.exit(0 if u.find_spec("jupyter_client") and (u.find_spec("jupyterlab") or u.find_spec("notebook")) else 1)
PY
    echo "$py"
}

if [ "$want" != test ]; then
    for cmd in "$(command -v jupyter || true)" /usr/bin/jupyter; do
        if [ -n "$cmd" ] && [ -e "$cmd" ] && py=$(python_of "$cmd"); then
            say "using the Jupyter that is on this machine: $cmd ($py)"
            echo "$py"
            exit 0
        fi
    done
    [ "$want" = installed ] && exit 0
fi

python=$(command -v python3 || true)
if [ -n "$python" ]; then
    say "setting up JupyterLab from PyPI in .cache/jupyter (once; about a minute)"
    rm -rf "$venv"
    if "$python" -m venv "$venv" >&2 && "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$root/tools/requirements.txt" >&2; then
        touch "$venv/stamp-$stamp"
        say "set up in .cache/jupyter"
        echo "$venv/bin/python"
        exit 0
    fi
    rm -rf "$venv"
    say "PyPI did not give it"
fi

if command -v apt-get >/dev/null; then
    sudo=; [ "$(id -u)" = 0 ] || sudo=sudo
    say "installing Debian's jupyter-notebook (classic Notebook; no JupyterLab there)"
    $sudo apt-get update -qq >&2 || true
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 \
        jupyter-notebook jupyter-nbconvert jupyter-console jupyter-nbformat python3-nbclient python3-jupyter-client python3-ipykernel \
        python3-pytest python3-jsonschema >&2
    say "using Debian's Jupyter: /usr/bin/jupyter"
    echo /usr/bin/python3
    exit 0
fi
say "there is no Jupyter here, and neither PyPI nor Debian's packages could bring one: install it with 'pip install jupyterlab'"
exit 1
