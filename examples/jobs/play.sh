#!/bin/sh
# play.sh <program> <file>: starts a broker on a free port of this machine and runs the program against it.
set -eu

PATH=$PATH:/usr/sbin
if ! command -v mosquitto > /dev/null; then
    echo "play.sh: there is no mosquitto here; examples/jobs/run.sh installs it" >&2
    exit 77
fi
work=$(mktemp -d)
broker=
trap '[ -z "$broker" ] || kill "$broker" 2> /dev/null || true; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# It listens when it reports that it runs; on a busy machine that takes time. It ends if its port is taken.
port=$((20000 + $$ % 10000))
for _ in 1 2 3 4 5 6 7 8 9 10; do
    printf 'listener %s 127.0.0.1\nallow_anonymous true\npersistence false\n' "$port" > "$work/broker.conf"
    mosquitto -c "$work/broker.conf" > "$work/broker.log" 2>&1 &
    broker=$!
    waited=0
    while [ $waited -lt 30 ] && kill -0 "$broker" 2> /dev/null && ! grep -qs ' running$' "$work/broker.log"; do
        sleep 1
        waited=$((waited + 1))
    done
    if kill -0 "$broker" 2> /dev/null; then
        break
    fi
    broker=
    port=$((port + 7))
done
if [ -z "$broker" ]; then
    cat "$work/broker.log" >&2
    exit 1
fi

"$1" --port "$port" --file "$2"
