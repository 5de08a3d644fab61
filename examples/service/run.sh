#!/bin/sh
# Installs missing packages, builds allotd, starts it on a folder, and plays the bundled trace against it with simulated
# nodes as real clients. Debian 12, Ubuntu 22.04 or later. `--short` plays 20 seconds and ends; otherwise the service
# goes on, and http://127.0.0.1:8321/ shows it, until Ctrl-C. The folder is the one that ALLOTD_DATA names, else a new one.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$here/../..
# shellcheck source=../../tests/support/debian.sh
. "$root/tests/support/debian.sh"
need_for service
allotd=$(sh "$root/examples/build.sh" allotd -DALLOT_SERVICE_PRESETS=plain)

trap 'exit 1' HUP INT TERM  # so that the traps of EXIT run, too
data=${ALLOTD_DATA:-}
[ -n "$data" ] || { data=$(mktemp -d) && trap 'rm -rf "$data"' EXIT; }
"$allotd" --data "$data" --listen 127.0.0.1:8321 &
service=$!
trap 'kill "$service" 2> /dev/null || :; wait "$service" || :; [ -n "${ALLOTD_DATA:-}" ] || rm -rf "$data"' EXIT
sleep 1
kill -0 "$service"
if [ "${1:-}" = --short ]; then
    python3 "$here/play.py" --nodes 20 --tasks 100 --seconds 20
else
    python3 "$here/play.py"
    echo "allotd goes on: http://127.0.0.1:8321/ (Ctrl-C ends it)"
    wait "$service"
fi
