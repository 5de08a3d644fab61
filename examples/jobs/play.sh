#!/bin/sh
# play.sh <program> <file> <file> [option...]: runs the program, which hashes the two files, in a folder of its own that
# is removed afterwards. The options are those of the program: --seed, --adversaries, --no-view.
set -eu

PATH=$PATH:/usr/sbin
for tool in mosquitto mosquitto_passwd; do
    if ! command -v $tool > /dev/null; then
        echo "play.sh: there is no $tool here; examples/jobs/run.sh installs it" >&2
        exit 77
    fi
done
program=$1
first=$2
second=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

status=0
"$program" --folder "$work" --file "$first" "$second" "$@" || status=$?
if [ $status -ne 0 ]; then
    echo "The broker's last words:" >&2
    tail -n 5 "$work/broker.log" >&2 || true
fi
exit $status
