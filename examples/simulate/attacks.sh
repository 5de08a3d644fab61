#!/bin/sh
# Brings docs/attacks.md up to date, sentences and figures: attacks.sh SIMULATE [PRESETS [SEEDS [RUNS]]]
# It takes a few minutes; with a folder for RUNS one that was stopped goes on.
set -eu
page=$(dirname "$0")/../../docs/attacks.md
exec "$1" --compare "${2:-hardened,crynux_single}" --attack all --seeds "${3:-8}" --world small --load 80 \
    --runs "${4:-}" --no-progress --attacks-page "$page"
