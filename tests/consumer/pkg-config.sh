# pkg-config.sh <prefix> <version> <main.cpp> <program> <compiler>
set -eu
prefix=$1 version=$2 source=$3 program=$4 compiler=$5

PKG_CONFIG_PATH=$prefix/share/pkgconfig
export PKG_CONFIG_PATH
found=$(pkg-config --modversion allot)
if [ "$found" != "$version" ]; then
    echo "pkg-config says version $found, the header says $version"
    exit 1
fi
# The installed headers, not those beside this file.
flags=$(pkg-config --cflags --libs allot)
case $flags in
    *"$prefix"*) ;;
    *) echo "pkg-config does not lead to $prefix: $flags" && exit 1 ;;
esac
echo "$compiler -std=c++20 $flags $source"
# shellcheck disable=SC2086  # the flags are several words
"$compiler" -std=c++20 $flags "$source" -o "$program"
"$program"
