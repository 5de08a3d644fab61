#!/bin/sh
# Installs missing packages, builds examples/simulate and runs the bundled trace. Debian 12, Ubuntu 22.04 or later.
# Arguments are passed to simulate: sh examples/run.sh --short
set -eu
simulate=$(sh "$(dirname -- "$0")/build.sh" simulate)
exec "$simulate" "$@"
