# tokens.sh <include folder>
#
# Fails on what would let two machines decide differently, or a header do what belongs to its embedder: floating point,
# clocks, hidden chance, the order of a hash, threads, the environment, output. Comments and texts may say what they like.
set -eu
root=$1
here=$(dirname "$0")

faults=$(
    find "$root/allot" -name '*.hpp' | LC_ALL=C sort | while read -r file; do
        awk -f "$here/code.awk" "$file" | awk -v file="${file#"$root"/}" '
            # A pattern is matched as a whole word; the lines below are given a blank at either end for that.
            function ban(pattern, why) {
                patterns[++count] = "[^A-Za-z0-9_](" pattern ")[^A-Za-z0-9_]"
                reasons[count] = why
            }
            BEGIN {
                ban("float|double|float_t|double_t|cmath|cfloat|ldexp|frexp", "floating point differs between compilers")
                # \047 is the mark that parts digits: 0x2E66 may be written with it, and is no exponent.
                number = "[0-9][0-9\047]*(\\.[0-9\047]*([eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)|\\.[0-9]+" \
                         "|0[xX][0-9a-fA-F.\047]+[pP][-+]?[0-9]+"
                patterns[++count] = "[^A-Za-z0-9_.\047](" number ")"
                reasons[count] = "floating point differs between compilers"
                ban("system_clock|steady_clock|high_resolution_clock|utc_clock|file_clock|ctime|gettimeofday|clock_gettime",
                    "time is an argument")
                ban("std::time|time[ ]*\\([ ]*(NULL|nullptr|0)", "time is an argument")
                ban("std::rand|srand|rand[ ]*\\(.*|random_device|mt19937|mt19937_64|minstd_rand0?|default_random_engine",
                    "chance is an argument")
                ban("[a-z_]+_distribution|shuffle|random_shuffle|ranges::sample|std::sample|generate_canonical",
                    "its result is the choice of the standard library")
                ban("std::hash|hash_value|unordered_(multi)?(map|set)|boost::hash[a-z_]*", "the order of a hash would show")
                ban("j?thread|thread_local|(shared_|recursive_|timed_)*mutex|atomic[a-z_]*|condition_variable" \
                    "|std::future|std::async",
                    "threads belong to the embedder")
                ban("iostream|cout|cerr|clog|[a-z]*printf|puts|putchar", "output belongs to the embedder")
                ban("std::views|views::[a-z_]+|ranges::views", "clang 14 cannot compile it")
                ban("getenv|setenv|secure_getenv", "the environment belongs to the embedder")
                ban("R\"\"", "a raw string hides from these checks")
            }
            {
                line = " " $0 " "
                for (i = 1; i <= count; ++i)
                    if (match(line, patterns[i])) {
                        found = substr(line, RSTART + 1, RLENGTH - 1)
                        sub(/[^A-Za-z0-9_)"]$/, "", found)
                        printf "%s:%d: %s: %s\n", file, FNR, found, reasons[i]
                    }
            }'
    done
)
if [ -n "$faults" ]; then
    printf '%s\n' "$faults"
    exit 1
fi
