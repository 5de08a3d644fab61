#!/bin/sh
# Brings docs/attacks.md up to date, sentences and figures: attacks.sh SIMULATE [PRESETS [SEEDS [RUNS]]]
# It takes a few minutes; with a folder for RUNS one that was stopped goes on.
set -eu
page=$(dirname "$0")/../../docs/attacks.md
play() {
    compared=$1
    shift
    "$simulate" --compare "$compared" --world small --load 80 --no-progress --attacks-page "$page" "$@"
}
simulate=$1

play "${2:-hardened,crynux_single}" --attack all --seeds "${3:-8}" --runs "${4:-}"

# All presets beside each other.
play hardened,crynux_single,crynux_relay_2026,crynux_contracts_2,crynux_contracts_1,crynux_trio --attack all \
    --seeds "$((${3:-8} / 2))" --runs "${4:-}"

# Each rule of Hardened that a parameter turns off.
without=hardened
for off in rules.narrow_from=1 weight.holder_caps=0/1 weight.score_cap=1/1 rules.refuse_unrunnable=false rules.tasks_per_owner_max=4294967295 rules.outbid_by=1/1 \
    rules.value_doubles_in=2592000000 eligibility.stake_per_fee=0/1 queue.tasks_per_fitting_node=1000000/1 qos.proven_from=0 \
    qos.penalty_failure=1/1 qos.after_decline=0/1 qos.after_return=0 qos.after_raise=0 qos.after_raise=0:qos.unbond_after=0 terms.fee_per_second_min=0 \
    terms.withdrawn=0/1 terms.withdrawn_full=0/1 terms.poisoned_from=16 terms.lengths=32/1 terms.round_period=0 placement.copies_max=65536 \
    placement.held_for=0 terms.paid=1/1; do
    without=$without,hardened:$off
done
play "$without" --attack none --seeds "$((${3:-8} * 4))" --runs "${4:-}"
