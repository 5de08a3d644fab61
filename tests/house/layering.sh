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
            function primitive(pattern, where, why) {
                ++primitives
                pattern_of[primitives] = pattern
                where_of[primitives] = where
                why_of[primitives] = why
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
                may("replica", low " " models " laws dispatcher journal")
                may("explain", low " " models " dispatcher")
                may("allot", low " " models " dispatcher preset")
                may("format", low " " models " dispatcher preset journal explain validation reward job replica")
                may("json", low " " models " dispatcher preset journal explain validation reward job replica")

                # What has one writing: its pattern, where it may stand, and why.
                primitive("QueueEntry[{]", "^(policy|queue|laws)/|^dispatcher/view/", "the order of a queue is what View::entry_of says")
                primitive("SamplingFrame[{]", "^(policy|pool|laws)/|^dispatcher/view/", "a frame is made by the View, which knows the classes that fit")
                primitive("[.]admits[(]", "^(policy|eligibility|laws)/|^dispatcher/view/", "whether eligibility admits a pair is asked by View::admission")
                primitive("[.]weight[(]", "^(policy|weight|pool|laws)/|^dispatcher/view/", "what a node weighs is asked by the View")
                primitive("[.]draw[(]", "^(policy|pool|laws)/|^dispatcher/(view|turn)/", "a draw is made by the View")
                primitive("canonical_draw[(]", "^(policy|pool|laws)/", "the one meaning of a draw is policy/canonical_draw.hpp, for pools")
                primitive("std::set<OperatorId>", "^dispatcher/view/gang_tally", "who may stand in one gang is counted by GangTally")
                primitive("pool[.]changed[(]", "^(laws|dispatcher/(indices|late_change))", "a pool hears of changes from Indices alone")
                primitive("queue(_|[.])?[.]?(push|erase)[(]", "^(policy|queue|laws)/|^dispatcher/(indices|gated_tasks|turn/set_aside)", "a queue hears of changes from Indices alone")
                primitive("(queue|waiting[(][)])[.]best[(]", "^(policy|queue|laws)/|^dispatcher/(view/(draws|view)|turn/dispatching)[.]", "what a node pulls is decided by View::next_for, and what match tries by match_all")
                primitive("(records_|records)[.](put|edit|remove|hold|intern|intern_model|intern_at|set|rollback)[(]", "^store/|^dispatcher/(turn/door|session|interface)[.]", "records change through the Door, or as a whole in a session or when they are taken over")

                room = room_of(file)
                inside = file
                sub(/^allot\//, "", inside)
                is_view = inside ~ /^dispatcher\/view\//
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
                } else if (header ~ /^(sys\/|fcntl|unistd|dirent)/) {
                    if (file !~ /^allot\/journal\/posix_/) fault("only journal/posix_*.hpp needs a system")
                } else if (header ~ /\// && header !~ /^boost\//) {
                    fault(header " is not one of our dependencies")
                }
            }
            /^namespace allot / { opened = 1 }
            opened && /^[ \t]*#[ \t]*include/ { fault("an include at the bottom of another header") }
            {
                for (n = 1; n <= primitives; ++n) {
                    if ($0 ~ pattern_of[n] && inside !~ where_of[n]) fault(why_of[n])
                }
            }
            # A View answers and changes nothing: every function is const, and what it is given to read is, too.
            is_view && /const_cast|(^|[^[:alnum:]_])mutable([^[:alnum:]_]|$)/ { fault("a View changes nothing") }
            is_view && /(^|[ (,<])(Parts|Records|State|CandidatePool|TaskQueue|QoSTracker|View)(<[^>]*>)?[&*]/ \
                    && !/const (typename )?[[:alnum:]_:]*(Parts|Records|State|CandidatePool|TaskQueue|QoSTracker|View)(<[^>]*>)?[&*]/ {
                fault("a View sees records, indices and policies as const")
            }
            is_view && /^    (\[\[[^]]*\]\] )?(auto|void) [[:alnum:]_]+\(/ && inside !~ /gang_tally/ { signature = ""; reading = 1 }
            reading {
                signature = signature $0
                if ($0 ~ /[{;]$/ || $0 ~ /}$/) {
                    reading = 0
                    if (signature !~ /\)[ \t]*const[ \t]*(noexcept)?[ \t]*(->|{)/) fault("a function of a View that is not const")
                }
            }
            # Of the names that are also those of the defaults, a layer uses the one that the policies chose.
            inside ~ /^dispatcher\/(view|turn)\// {
                count = split("WeightPolicy CandidatePool TaskQueue QoSTracker", each, " ")
                for (n = 1; n <= count; ++n) {
                    if ($0 ~ "using .*" each[n]) chosen[each[n]] = 1
                    else if ($0 ~ "(^|[^:[:alnum:]_])" each[n] "([^[:alnum:]_]|$)" && !(each[n] in chosen))
                        fault(each[n] " is the default here; write `using typename Below::" each[n] ";` above")
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
