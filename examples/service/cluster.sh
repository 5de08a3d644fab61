#!/bin/sh
# Installs missing packages, builds allotd, starts three members of etcd and three replicas on this machine, lets clients
# work, and kills and pauses parts of it until Ctrl-C. Then it audits that nothing was lost or applied twice. `--short`
# ends after 8 faults, one of each kind; `--faults N --seed S` after N. `--big-endian`, the first argument, has the log
# applied by an s390x, too, emulated, which compares its hashes with those of the replicas. Debian 12, Ubuntu 22.04 or later.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$here/../..
# shellcheck source=../../tests/support/debian.sh
. "$root/tests/support/debian.sh"
need_for service cluster
allotd=$(sh "$root/examples/build.sh" allotd -DALLOT_SERVICE_PRESETS=plain)
if [ "${1:-}" = --big-endian ]; then
    shift
    need g++-s390x-linux-gnu qemu-user-static
    tail=$(sh "$root/examples/build.sh" etcd_tail)
    follower=$root/build/s390x/follower
    mkdir -p "$root/build/s390x/include"
    ln -sfn /usr/include/boost /usr/include/tl "$root/build/s390x/include"  # and nothing else of this machine's headers
    s390x-linux-gnu-g++ -std=c++20 -O1 -static -isystem "$root/build/s390x/include" -I "$root/include" \
        "$here/follower/main.cpp" -o "$follower"
    set -- --tail "$tail" --follower "qemu-s390x-static $follower" "$@"
fi
exec python3 "$here/campaign.py" "$@" "$allotd"
