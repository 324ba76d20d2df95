#!/usr/bin/env bash
# Runs every fuzz target of the project for FUZZTIME each.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${FUZZTIME:-1m}
git grep -lE '^func Fuzz' -- '*_test.go' | while read -r file; do
    dir=$(dirname "$file")
    grep -oE '^func Fuzz[A-Za-z0-9_]*' "$file" | sed 's/^func //' | while read -r target; do
        echo "== $dir $target"
        go test "./$dir" -run '^$' -fuzz "^$target\$" -fuzztime "$time" </dev/null
    done
done
