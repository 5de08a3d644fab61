# layering.sh <include folder>
#
# Fails on an include that points upwards. A folder may include itself and what its line names; whoever needs more
# changes the line here, in the open, or finds that the thing belongs one layer lower.
set -eu
root=$1
here=$(dirname "$0")

faults=$(
    find "$root/allot" -name '*.hpp' | LC_ALL=C sort | while read -r file; do
        awk -f "$here/code.awk" "$file" | awk -v file="${file#"$root"/}" '
            function may(who, whom) {
                split(whom, names, " ")
                for (i in names) allowed[who, names[i]] = 1
                known[who] = 1
                allowed[who, who] = 1
            }
            # The folder of a header; the header of a folder, as dispatcher.hpp, belongs to it.
            function room_of(path) {
                sub(/^allot\//, "", path)
                sub(/\.hpp$/, "", path)
                sub(/\/.*/, "", path)
                return path ~ /^(version|assert|result|fwd)$/ ? "base" : path
            }
            function fault(text) {
                printf "%s:%d: %s\n", file, FNR, text
            }
            BEGIN {
                low = "base core store policy"
                models = "eligibility pool weight queue qos valuation placement terms"
                may("base", "")
                may("core", "base")
                may("store", "base core")
                may("policy", low)
                count = split(models, each, " ")
                for (n = 1; n <= count; ++n) may(each[n], low)
                may("laws", low " " models)
                may("estimate", "base core")
                may("validation", "base core")
                may("reward", "base core")
                may("job", "base core")
                may("dispatcher", low " " models)
                may("preset", low " " models " dispatcher validation reward")
                may("compiled", "base dispatcher preset")
                may("journal", low " " models " dispatcher")
                may("explain", low " " models " dispatcher")
                may("allot", low " " models " dispatcher preset")
                may("format", low " " models " dispatcher preset journal explain validation reward job")
                may("json", low " " models " dispatcher preset journal explain validation reward job")

                room = room_of(file)
                if (!(room in known)) fault("the folder " room " has no place in the layers (tests/house/layering.sh)")
            }
            /^[ \t]*#[ \t]*include/ {
                if (!match($0, /<[^>]+>/)) {
                    fault("include with <...>, not with quotes")
                    next
                }
                header = substr($0, RSTART + 1, RLENGTH - 2)
                if (header ~ /^allot\//) {
                    other = room_of(header)
                    if (!((room, other) in allowed)) fault(room " must not include " other " (" header ")")
                } else if (header ~ /^fmt\//) {
                    if (room != "format") fault("only format.hpp includes {fmt}")
                } else if (header ~ /^nlohmann\//) {
                    if (room != "json") fault("only json.hpp includes nlohmann-json")
                } else if (header ~ /^tl\//) {
                    if (file != "allot/result.hpp") fault("only result.hpp includes tl::expected")
                } else if (header ~ /^boost\/multi_index/) {
                    if (room != "job" && room != "queue") fault("Boost.MultiIndex belongs to queue and job")
                } else if (header ~ /\// && header !~ /^boost\//) {
                    fault(header " is not one of our dependencies")
                }
            }
            /tl::/ && file != "allot/result.hpp" { fault("only result.hpp names tl::expected") }
            /fmt::/ && room != "format" { fault("only format.hpp names {fmt}") }
            /nlohmann::/ && room != "json" { fault("only json.hpp names nlohmann-json") }'
    done
)
if [ -n "$faults" ]; then
    printf '%s\n' "$faults"
    exit 1
fi
