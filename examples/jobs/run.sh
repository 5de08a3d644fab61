#!/bin/sh
# Installs missing packages, builds examples/jobs, and runs two jobs over a broker (mosquitto) that it starts. Of sixteen
# members three cheat together, one forges messages, one steals hashes, one is killed, and one comes late; and the broker
# is killed in the middle. Debian 12, Ubuntu 22.04 or later. Ends by itself within three minutes; the status is 0 if
# nothing is lost, paid twice, or paid without having been verified.
#
#     sh examples/jobs/run.sh --adversaries 0 --seed 7 --no-view
#
# The seed makes the keys, the jobs and the lies; --adversaries is a number from 0 to 5; --no-view prints lines only.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$here/../..
# shellcheck source=../../tests/support/debian.sh
. "$root/tests/support/debian.sh"
need_for jobs
jobs=$(sh "$root/examples/build.sh" jobs)
data=$root/examples/data
exec sh "$here/play.sh" "$jobs" "$data/openb_node_list_gpu_node.csv" "$data/openb_pod_list_gpuspec33.csv" "$@"
