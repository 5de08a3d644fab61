#!/bin/sh
# Checks every rule of the house and the format, without a build and within a minute. Run it before each commit.
#
#     sh tests/house/run.sh
#
# The rules are those of CMakeLists.txt in this folder; its variables are set here under their names.
set -u
PROJECT_SOURCE_DIR=$(cd "$(dirname "$0")/../.." && pwd)
CMAKE_CURRENT_SOURCE_DIR=$PROJECT_SOURCE_DIR/tests/house
include=$PROJECT_SOURCE_DIR/include
tests=$PROJECT_SOURCE_DIR/tests
export PROJECT_SOURCE_DIR CMAKE_CURRENT_SOURCE_DIR include tests

{
    sed -n 's/^allot_add_rule(\([a-z_]*\) \(.*\))$/\1 \2/p' "$CMAKE_CURRENT_SOURCE_DIR/CMakeLists.txt"
    # shellcheck disable=SC2016  # expanded below, as the others are
    echo 'format sh "${CMAKE_CURRENT_SOURCE_DIR}/format.sh"'
} | {
    broken=
    while read -r name command; do
        out=$(eval "$command" 2>&1 < /dev/null) || {
            printf '%s\n' "$out"
            broken="$broken $name"
        }
    done
    if [ -n "$broken" ]; then
        echo "run.sh: broken rules:$broken"
        exit 1
    fi
    echo "run.sh: every rule of the house holds"
}
