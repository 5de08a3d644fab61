#!/bin/sh
# Installs missing packages, builds examples/jobs, starts a broker, and runs a job over it: several workers, one of
# which cheats, one is killed and one starts late. Debian 12, Ubuntu 22.04 or later. Ends by itself; the status is 0 if
# the outcome is right. `sh examples/jobs/run.sh some/file` hashes that file instead of the bundled one.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$here/../..
# shellcheck source=../../tests/support/debian.sh
. "$root/tests/support/debian.sh"
need_for jobs
jobs=$(sh "$root/examples/build.sh" jobs)
exec sh "$here/play.sh" "$jobs" "${1:-$root/examples/data/openb_node_list_gpu_node.csv}"
