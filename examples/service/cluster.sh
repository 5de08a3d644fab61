#!/bin/sh
# Installs missing packages, builds allotd, starts three members of etcd and three replicas on this machine, lets clients
# work, and kills and pauses parts of it until Ctrl-C. Then it audits that nothing was lost or applied twice. `--short`
# ends after 8 faults, one of each kind; `--faults N --seed S` after N. Debian 12, Ubuntu 22.04 or later.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$here/../..
# shellcheck source=../../tests/support/debian.sh
. "$root/tests/support/debian.sh"
need_for service cluster
allotd=$(sh "$root/examples/build.sh" allotd -DALLOT_SERVICE_PRESETS=plain)
exec python3 "$here/campaign.py" "$@" "$allotd"
