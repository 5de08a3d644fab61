# shellcheck shell=sh
# To be sourced by a POSIX shell with `.`: installs packages on Debian and Ubuntu, and reports that.

# as_root <command...>
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo > /dev/null; then
        sudo "$@"
    else
        echo "This needs root, and there is no sudo: $*" >&2
        return 1
    fi
}

# need <package...>: installs the missing ones. Messages go to standard error.
need() {
    missing=
    for package in "$@"; do
        dpkg-query -W -f '${Status}\n' "$package" 2> /dev/null | grep -q ' installed$' || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    if ! command -v apt-get > /dev/null; then
        echo "Please install what Debian calls:$missing" >&2
        return 0
    fi
    echo "+ apt-get install$missing" >&2
    as_root apt-get update -qq >&2 || echo "apt-get update failed; trying with the lists that are here" >&2
    # shellcheck disable=SC2086  # several words
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing < /dev/null > /dev/null
}

# need_for <purpose...>: installs the packages that packages.txt lists for it; `root` is the folder of the project, if
# not this one.
# An installed Boost is enough, unless ALLOT_BOOST names a version.
need_for() {
    packages=
    for what in "$@"; do
        packages="$packages $(sed -n "s/^$what  *//p" "${root:-.}/tests/support/packages.txt")"
    done
    if [ -n "${ALLOT_BOOST:-}" ]; then
        boost=libboost$ALLOT_BOOST-dev
    elif [ -e /usr/include/boost/version.hpp ]; then
        boost=
    else
        boost=libboost-dev
    fi
    packages=$(echo "$packages" | sed "s/libboost-dev/$boost/")
    # shellcheck disable=SC2086  # several words
    need $packages
}

# show <command...>: prints the command, then runs it.
show() {
    echo "+ $*"
    "$@"
}

# A ccache, if there is one, keeps what was compiled, wherever the folder of the project stands. It compares the content of
# headers, so their times do not count; without the others it keeps nothing that was compiled with a precompiled header.
if command -v ccache > /dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_NOHASHDIR=1
    export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_ctime,include_file_mtime
fi

# Number of compilers to run at once; ALLOT_JOBS overrides it.
cores() {
    echo "${ALLOT_JOBS:-$(nproc 2> /dev/null || echo 2)}"
}
