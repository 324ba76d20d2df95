#!/bin/sh
# Rebuilds echarts-cut.js.gz from the pinned packages, byte for byte the same each time. Needs npm and its registry.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp package.json package-lock.json entry.js "$work"
(cd "$work" && npm ci --silent --no-audit --no-fund --ignore-scripts)
(cd "$work" && node_modules/.bin/esbuild entry.js --bundle --minify --format=iife --global-name=gpkECharts --target=es2020 --legal-comments=none '--banner:js=/*! Apache ECharts 5.6.0 (Apache-2.0, see LICENSE and NOTICE of echarts) with zrender (BSD-3-Clause) */' --outfile=out.js --log-level=warning)
gzip -9 -n <"$work/out.js" >echarts-cut.js.gz
cp "$work/node_modules/echarts/LICENSE" LICENSE
cp "$work/node_modules/echarts/NOTICE" NOTICE
cp "$work/node_modules/zrender/LICENSE" LICENSE.zrender
wc -c echarts-cut.js.gz
