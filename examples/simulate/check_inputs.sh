#!/bin/sh
# Checks that a malformed trace ends the program with a non-zero status and names file, line and column:
# check_inputs.sh SIMULATE
set -u

simulate=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trace=$work/trace.csv
header='name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time'
good='a,1,1,1,500,T4,LS,Running,10,90,20'
bad=0

# expect WHAT: the run on the trace fails, and its last line is "trace.csv:" and WHAT.
expect() {
    if "$simulate" --trace "$trace" --report '' --no-progress >"$work/out" 2>&1; then
        echo "accepted, though expected \"$1\""
        bad=1
    elif [ "$(tail -n 1 "$work/out")" != "$trace:$1" ]; then
        echo "expected \"$trace:$1\", found: $(tail -n 1 "$work/out")"
        bad=1
    fi
}
rows() { printf '%s\n' "$header" "$@" >"$trace"; }

rows "$good" 'b,1,1,1,5x0,T4,LS,Running,10,90,20'
expect '3:10: expected a whole number, found "5x0"'
rows "$good" 'b,1,1,1,500,T4|Q9,LS,Running,10,90,20'
expect '3:16: unknown GPU model "Q9"'
rows 'b,1,1,1,500,T4|,LS,Running,10,90,20'
expect '2:16: unknown GPU model ""'
rows 'b,1,1,1,1001,,LS,Running,10,90,20'
expect '2:9: 1001 is not in [0, 1000]'
rows 'b,1,1,1,0,,LS,Running,10,90,20'
expect '2:9: a row with a GPU uses some of it'
rows 'b,1,1,1,500,,XL,Running,10,90,20'
expect '2:14: expected BE, Burstable, LS or Guaranteed, found "XL"'
rows 'b,1,1,1,500,,LS,Running,10,9,20'
expect '2:28: 9 is not in [10, 2147483647]'
rows 'b,1,1,1,500,,LS,Running,,90,20'
expect '2:25: expected a whole number, found an empty field'
rows 'b,1,1,1,500,,LS,Running,10,99999999999999999999,20'
expect '2:28: 99999999999999999999 is not in [10, 2147483647]'
rows "$good" 'b,1,1'
expect '3:5: the header has 11 fields, this line has 3'
rows "$good,extra"
expect '2:36: the header has 11 fields, this line has 12'
rows 'b,1,1,1,500,"T4,LS,Running,10,90,20'
expect '2:13: quoted field has no end'
rows 'b,1,1,1,500,"T4"x,LS,Running,10,90,20'
expect '2:17: expected a comma after the quoted field'
rows "$good" '' "$good"
expect '3:1: the header has 11 fields, this line has 1'
rows 'b,1,1,8,1000,,LS,Running,10,90,20'
expect ' no row asks for exactly one GPU'
rows
expect '1:1: no rows follow the header'
printf 'name,num_gpu,gpu_milli\n' >"$trace"
expect '1:1: the header has no column "gpu_spec"'
printf '' >"$trace"
expect '1:1: the file is empty'
rm "$trace"
expect ' cannot be opened'

if "$simulate" --short --seed -1 --report '' --no-progress >"$work/out" 2>&1; then
    echo "accepted a negative seed"
    bad=1
fi

exit "$bad"
