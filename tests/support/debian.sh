# To be read by a POSIX shell with `.`: installs packages on Debian and Ubuntu, and says so.

# as_root <command...>
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

# need <package...>: installs those that are missing. `a|b` is either: b when a is not to be had.
need() {
    missing=
    for choice in "$@"; do
        installed=no
        for package in $(echo "$choice" | tr '|' ' '); do
            if dpkg-query -W -f '${Status}\n' "$package" 2> /dev/null | grep -q ' installed$'; then
                installed=yes
            fi
        done
        [ $installed = yes ] || missing="$missing $choice"
    done
    [ -n "$missing" ] || return 0
    if ! command -v apt-get > /dev/null; then
        echo "Please install what Debian calls:$missing"
        return 0
    fi
    as_root apt-get update -qq || echo "apt-get update failed; trying with the lists that are here"
    wanted=
    for choice in $missing; do
        for package in $(echo "$choice" | tr '|' ' '); do
            if LC_ALL=C apt-cache policy "$package" | grep -q 'Candidate: [^(]'; then
                break
            fi
        done
        wanted="$wanted $package"
    done
    echo "+ apt-get install$wanted"
    # shellcheck disable=SC2086  # several words
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $wanted < /dev/null
}

# show <command...>: says the command, then runs it.
show() {
    echo "+ $*"
    "$@"
}

# What every build of the tests needs. Boost 1.74 is enough; where a newer one stands beside it, we develop on that.
need_basics() {
    boost='libboost1.81-dev|libboost-dev'
    [ ! -e /usr/include/boost/multi_index_container.hpp ] || boost=
    # shellcheck disable=SC2086  # empty when there is a Boost
    need g++ cmake ninja-build pkg-config $boost libexpected-dev libfmt-dev catch2 librapidcheck-dev \
        nlohmann-json3-dev libcli11-dev
}

# How many compilers at once; ALLOT_JOBS says otherwise.
cores() {
    echo "${ALLOT_JOBS:-$(nproc 2> /dev/null || echo 2)}"
}
