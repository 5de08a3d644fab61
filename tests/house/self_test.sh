# self_test.sh <tests folder>
#
# A check that cannot fail checks nothing: plants each violation, alone, in a folder of headers and looks whether the check
# names it. Also plants what has to pass.
set -eu
tests=$1
here=$(dirname "$0")
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
trap 'exit 1' HUP INT TERM
failures=0

# planted <yes|no> <check> <file> <line>: does the check complain about the line in that file?
planted() {
    expected=$1 check=$2 file=$copy/allot/$3 line=$4
    mkdir -p "$(dirname "$file")"
    printf '#pragma once\n\n%s\n' "$line" > "$file"
    found=no
    case $check in
        headers) sh "$here/headers.sh" "$copy" "$tests" > "$copy/output" && status=0 || status=1 ;;
        *) sh "$here/$check.sh" "$copy" > "$copy/output" && status=0 || status=1 ;;
    esac
    if grep -q "^allot/$3:" "$copy/output"; then
        found=yes
        if [ "$status" -eq 0 ]; then
            echo "$check complains about $3 and yet passes"
            failures=$((failures + 1))
        fi
    fi
    rm "$file"
    if [ "$found" != "$expected" ]; then
        echo "$check: complaint about \"$line\" in $3: expected $expected, was $found"
        failures=$((failures + 1))
    fi
}

no_entry() { planted yes layering "$1" "#include <$2>"; }
entry() { planted no layering "$1" "#include <$2>"; }

breach() { planted yes layering "$1" "$2"; }
no_breach() { planted no layering "$1" "$2"; }

breach dispatcher/view/planted.hpp '    void forget(NodeHandle h) { forgotten = h; }'
breach dispatcher/view/planted.hpp '    mutable int cache = 0;'
breach dispatcher/view/planted.hpp '    Records<int, int>& records;'
breach dispatcher/view/planted.hpp '    TaskQueue& queue;'
no_breach dispatcher/view/planted.hpp '    [[nodiscard]] auto now() const noexcept -> TimePoint { return records.counters().now; }'
no_breach dispatcher/view/planted.hpp '    const Records<int, int>& records;'
breach explain/planted.hpp 'auto entry = QueueEntry{task, group};'
breach explain/planted.hpp 'auto frame = SamplingFrame{classes};'
breach explain/planted.hpp 'auto reason = policy.admits(node, task, situation);'
breach dispatcher/turn/planted.hpp 'auto weight = policy.weight(node, task, factors);'
breach dispatcher/turn/planted.hpp 'auto best = view.queue.best(groups, fits);'
no_entry journal/planted.hpp 'unistd.h'
entry journal/posix_planted.hpp 'unistd.h'
breach explain/planted.hpp 'auto drawn = pool.draw(frame, weigh, random);'
breach explain/planted.hpp 'auto drawn = canonical_draw(pool, frame, weigh, random);'
breach explain/planted.hpp 'std::set<OperatorId> able;'
breach dispatcher/turn/planted.hpp 'if constexpr (monotone_weight<WeightPolicy>) {'
no_breach dispatcher/turn/planted.hpp 'using typename Below::WeightPolicy;
if constexpr (monotone_weight<WeightPolicy>) {'
breach dispatcher/turn/planted.hpp 'parts.pool.changed(before, after);'
breach dispatcher/turn/planted.hpp 'parts.queue.push(entry);'
breach dispatcher/turn/planted.hpp 'view.records.put(node, record, indices);'
no_breach dispatcher/turn/planted.hpp 'put(node, std::move(record));'
breach dispatcher/planted.hpp 'namespace allot { inline namespace v0 {
}}
#include <allot/core/id.hpp>'

no_entry core/planted.hpp allot/store/pages.hpp
no_entry core/planted.hpp allot/policy/role.hpp
no_entry core/planted.hpp allot/allot.hpp
no_entry store/planted.hpp allot/queue/value_queue.hpp
no_entry policy/planted.hpp allot/weight/harmonic_weight.hpp
no_entry weight/planted.hpp allot/qos/rolling_qos.hpp
no_entry pool/planted.hpp allot/dispatcher/dispatcher.hpp
no_entry pool/planted.hpp allot/dispatcher.hpp
no_entry dispatcher/planted.hpp allot/preset/crynux_single.hpp
no_entry preset/planted.hpp allot/explain/why.hpp
no_entry validation/planted.hpp allot/store/pages.hpp
no_entry reward/planted.hpp allot/validation/group.hpp
no_entry job/planted.hpp allot/policy/role.hpp
no_entry store/planted.hpp allot/dispatcher/policy_pack.hpp
no_entry dispatcher/planted.hpp allot/format.hpp
no_entry dispatcher/planted.hpp allot/json.hpp
no_entry explain/planted.hpp allot/json/write.hpp
no_entry format/planted.hpp allot/json.hpp
no_entry json/planted.hpp allot/format.hpp
no_entry core/planted.hpp fmt/format.h
no_entry core/planted.hpp tl/expected.hpp
no_entry pool/planted.hpp boost/multi_index_container.hpp
no_entry pool/planted.hpp boost/multi_index/ordered_index.hpp
no_entry core/planted.hpp nlohmann/json.hpp
no_entry format/planted.hpp nlohmann/json.hpp
no_entry nowhere/planted.hpp allot/core/id.hpp
planted yes layering core/planted.hpp '#include "id.hpp"'
planted yes layering core/planted.hpp '#  include <allot/store/pages.hpp>  // a reason'
planted yes layering core/planted.hpp 'auto id() -> tl::expected<int, Error>;'
planted yes layering core/planted.hpp 'using Json = nlohmann::json;'
entry core/planted.hpp allot/core/id.hpp
entry core/planted.hpp allot/result.hpp
entry core/planted.hpp boost/container/small_vector.hpp
entry job/planted.hpp boost/multi_index_container.hpp
entry weight/planted.hpp allot/policy/weight_policy.hpp
entry dispatcher/planted.hpp allot/queue/value_queue.hpp
entry preset/planted.hpp allot/dispatcher/dispatcher.hpp
no_entry job/planted.hpp allot/store/pages.hpp
entry json/planted.hpp nlohmann/json.hpp
entry json/planted.hpp allot/explain/task.hpp
planted no layering core/planted.hpp '// #include <allot/store/pages.hpp>'

banned() { planted yes tokens core/planted.hpp "$1"; }
fine() { planted no tokens core/planted.hpp "$1"; }

banned 'float weight;'
banned 'auto weight = double{};'
banned 'long double weight;'
banned 'auto weight = 0.7;'
banned 'auto weight = 1e-9;'
banned 'auto weight = .5;'
banned 'auto weight = 0x1p-3;'
banned '#include <cmath>'
banned 'auto now = std::chrono::system_clock::now();'
banned 'using clock = std::chrono::steady_clock;'
banned 'using clock = std::chrono::high_resolution_clock;'
banned 'auto now = time(nullptr);'
banned 'auto now = std::time(&then);'
banned 'auto r = std::rand();'
banned 'auto r = rand();'
banned 'auto device = std::random_device{};'
banned 'auto engine = std::mt19937{1};'
banned 'auto engine = std::mt19937_64{1};'
banned 'std::uniform_int_distribution<int> die;'
banned 'std::discrete_distribution<int> die;'
banned 'std::shuffle(first, last, random);'
banned 'std::ranges::shuffle(all, random);'
banned 'auto h = std::hash<int>{}(1);'
banned 'std::unordered_map<int, int> map;'
banned '#include <unordered_map>'
banned 'std::unordered_set<int> set;'
banned '#include <iostream>'
banned 'std::thread t;'
banned '#include <thread>'
banned 'thread_local int state;'
banned 'std::mutex m;'
banned '#include <shared_mutex>'
banned 'std::atomic<int> a;'
banned 'std::atomic_ref<int> a{b};'
banned 'auto odd = all | std::views::filter(is_odd);'
banned 'const char* home = std::getenv("HOME");'
banned 'std::printf("%d", 1);'
banned 'std::snprintf(text, 3, "%d", 1);'
banned 'int a; /* a comment */ double b; // another'
banned 'auto text = "a \" quote"; double b;'
banned 'auto text = R"(hidden)";'
fine '// no float or double here, nor 0.7'
fine 'int a; // double'
fine '/* double'
fine 'int a; /* float */ int b;'
fine 'auto text = "double trouble \" float 0.7";'
fine "auto mark = '\"'; auto number = 1'000'000; // float"
fine "auto constant = 0x9B05'688C'2E66'47E1ULL;"
fine 'auto doubled = 2 * random; auto mutex_free = 1; auto timed = time_of(event);'
fine 'auto t = moment.time; auto u = &Moment::time;'
fine '#include <allot/core/random.hpp>'

planted yes headers core/planted.hpp '/// Documented, but without a test.'
planted no headers fwd.hpp '/// Declares what others define.'

# prose <yes|no> <lines of a header, with \n>: does the check complain? All headers are checked at once, by prose_said.
mkdir -p "$copy/prose/allot/core"
: > "$copy/prose_allowed.txt"
prose_count=0
prose() {
    prose_count=$((prose_count + 1))
    printf '#pragma once\n\nnamespace allot {\n%b\n}\n' "$2" > "$copy/prose/allot/core/$1_$prose_count.hpp"
}
prose_said() {
    if sh "$here/prose.sh" "$copy/prose" "$copy/prose_allowed.txt" > "$copy/output" 2>&1; then
        echo "prose: passes all that is planted"
        failures=$((failures + 1))
    fi
    for file in "$copy"/prose/allot/core/*; do
        name=$(basename "$file")
        if grep -q "^allot/core/$name:" "$copy/output"; then found=yes; else found=no; fi
        if [ "$found" != "${name%%_*}" ]; then
            echo "prose: expected ${name%%_*}, was $found:"
            cat "$file"
            failures=$((failures + 1))
        fi
        rm "$file"
    done
}

for word in nobody Somebody anybody everybody "whoever's" whomever whatever whichever meanwhile beside besides hub lots dart he \
    His what who whom; do
    prose yes "// A $word there."
done
prose yes '/// A node. The\n/// hub knows it.'
prose yes 'int a;  ///< Nobody reads it.'
prose no '/// The `hub` and a hubbub.'
prose no 'auto text = "// nobody";'
words=$(yes a | head -n 16 | tr '\n' ' ')
prose yes "/// $words\n/// $words"
prose yes "int a;  ///< $words\n        ///< $words"
prose no "/// $words.\n/// $words"
prose no "/// $words: $words"
prose no "/// $words\n///\n/// $words"
prose no "/// $words\n/// @pre $words"
prose no "/// $words\n///     $words"
prose no "/// | $words | $words |"
prose no "/// $words \`$words\` 1 2 3"
prose no "// $words $words"
prose yes "// $(yes .. | head -n 40 | tr '\n' '/')"
prose yes "int a;  ///< $(yes .. | head -n 40 | tr '\n' '/')"
# body <yes|no> <doc block> <return type> <body>
body() {
    prose "$1" "/// $2\nauto f(int i) -> $3 {\n    $4\n}"
    prose "$1" "/// A class.\nclass A {\npublic:\n    /// $2\n    auto f(int i) const -> $3 {\n        $4\n    }\n};"
    prose no "/// A class.\nclass A {\n    /// $2\n    auto f(int i) const -> $3 { $4 }\n};"
    prose no "namespace detail {\n/// $2\nauto f(int i) -> $3 { $4 }\n}"
}
body yes 'A sum.' int 'for (;;) {}'
body yes 'A sum.' int 'while (i) {}'
body yes 'A sum.' void 'std::sort(a, b);'
body yes 'A sum.' void 'std::find_if(a, b, c);'
body yes 'A sum.' void 'a.push_back(i);'
body yes 'A sum.' int 'return f(i - 1);'
body no 'A sum. @complexity linear.' int 'for (;;) {}'
body no 'A sum.' int 'return g.f(i);'
body no 'A sum.' int 'return 1;  // for (;;)'
body yes 'A result.' 'Result<int>' 'return 1;'
body yes 'A result.' Events 'return {};'
body no 'A result. Error: none.' 'Result<int>' 'return 1;'
body no 'A result, or it is refused.' Events 'return {};'
body yes 'A root.' int 'ALLOT_ASSERT(i > 0, "a");'
body no 'A root. @pre positive.' int 'ALLOT_ASSERT(i > 0, "a");'
prose no '/// A class.\n/// @complexity linear.\nstruct A {\n    /// A sum.\n    void f() { for (;;) {} }\n};'
prose yes '/// A class.\ntemplate <class T>\nstruct B {\n    /// A sum.\n    void f();\n};\ntemplate <class T>\nvoid B<T>::f() { for (;;) {} }'
prose yes '/// A sum.\ntemplate <class T>\n    requires(sizeof(T) > 1)\nauto f(T a) -> int\n    requires(sizeof(T) > 2)\n{ for (;;) {} }'
prose yes '/// A node.\nstruct A {\n    /// A node.\n    A(int a) : a_{a}, b_(a) { for (;;) {} }\n};'
prose no 'struct A {\n    template <class T>\n        requires requires(T a) { a.f(); }\n    /// A sum.\n    void f();\n};'
prose_said

# allowed <yes|no> <line of the list> <function>: does the check complain about the function, with this list?
allowed() {
    printf '/// A sum.\nauto f() { %s }\n' "$3" > "$copy/prose/allot/core/planted.hpp"
    echo "$2" > "$copy/prose_allowed.txt"
    if sh "$here/prose.sh" "$copy/prose" "$copy/prose_allowed.txt" > "$copy/output" 2>&1; then found=no; else found=yes; fi
    if [ "$found" != "$1" ]; then
        echo "prose: complaint about \"$3\" with the list \"$2\": expected $1, was $found"
        failures=$((failures + 1))
    fi
}

allowed no 'core/planted.hpp f @complexity It loops twice.' 'for (;;) {}'
allowed yes 'core/planted.hpp f @complexity It loops twice.' ''
allowed yes 'core/planted.hpp f @complexity' 'for (;;) {}'
allowed yes 'core/planted.hpp g @complexity It loops twice.' 'for (;;) {}'
allowed no '# nothing' ''

# table <yes|no> <sed script>: does the check complain about the table of defects, changed in this way?
table() {
    sed "$2" "$tests/defects/table.txt" > "$copy/table.txt"
    if sh "$here/defects.sh" "$copy/table.txt" "$tests" > "$copy/output"; then found=no; else found=yes; fi
    if [ "$found" != "$1" ]; then
        echo "defects: complaint about the table after sed '$2': expected $1, was $found"
        failures=$((failures + 1))
    fi
}

table no ''
table no '/^D3 /s/largest/greatest/'
table yes '/^D44/,$d'
table yes '/^D17/s/D17/D18/'
table yes '/^D17/d'
table yes '/^D31/,/^D32/{/^  /d}'
table yes '$a\
D45 One more.\
  cannot It would be too many.'
table yes '/^D31/,/^D32/s/raises health/raises the health/'
table yes '/^D31/,/^D32/s/raises health/raises/'
table yes '/^D31/,/^D32/s#dispatcher/quality#dispatcher/qualities#'
table yes '/^D31/,/^D32/s#dispatcher/quality#dispatcher/queue#'
table yes 's/^  cannot .*/  cannot/'
table yes '/^D31/s/ One.*//'

# issue <yes|no> <line of the list>: does the check complain about a list of this line, beside one test with the tag [Q1]?
mkdir -p "$copy/tests/queue"
issue() {
    echo 'TEST_CASE("a claim", "[Q1]") {}' > "$copy/tests/queue/planted.cpp"
    echo "$2" > "$copy/list.txt"
    if sh "$here/issues.sh" "$copy/list.txt" "$copy/tests" > "$copy/output"; then found=no; else found=yes; fi
    if [ "$found" != "$1" ]; then
        echo "issues: complaint about \"$2\": expected $1, was $found"
        failures=$((failures + 1))
    fi
}

issue no 'Q1 queue/planted.cpp 0123456'
issue yes '# nothing'
issue yes 'Q1 queue/planted.cpp'
issue yes 'Q1 queue/planted.cpp 0123456 more'
issue yes 'Q1 queue/absent.cpp 0123456'
issue yes 'Q2 queue/planted.cpp 0123456'

# shown <yes|no> <file> <sed script>: does the check complain about the READMEs and scripts, one of which is changed in this way?
shown() {
    rm -rf "$copy/top"
    mkdir "$copy/top"
    (cd "$tests/.." && tar -cf - README.md .ci examples/*.sh examples/replay tests/*.sh tests/support benchmarks/*.sh) |
        tar -xf - -C "$copy/top"
    sed -i "$3" "$copy/top/$2"
    if sh "$here/shown.sh" "$copy/top" > "$copy/output"; then found=no; else found=yes; fi
    if [ "$found" != "$1" ]; then
        echo "shown: complaint about $2 after sed '$3': expected $1, was $found"
        failures=$((failures + 1))
    fi
}

shown no README.md ''
shown yes README.md 's/ libfmt-dev//'
shown yes README.md '/^g++ /d'
shown yes examples/replay/README.md '/^python3 /d'
shown yes examples/replay/README.md '/sh examples.build.sh/d'
shown yes tests/bare.sh '/run_blocks/d'
shown yes tests/bare.sh '/check_readme/d'
shown yes tests/bare.sh 's/^commands=.*/g++ first.cpp/'
shown yes tests/support/packages.txt 's/^library/libraries/'
shown yes .ci/run '/bare.sh/d'
shown yes tests/run.sh '$a\
need libboost-dev'

# blocks <result> <page>: what becomes of a page when its blocks are run; `|` is the end of a line.
blocks() {
    echo "$2" | tr '|' '\n' > "$copy/page"
    sh "$tests/support/run_blocks.sh" "$copy/page" "$copy/result" 2> /dev/null
    if [ "$(tr '\n' '|' < "$copy/result")" != "$1|" ]; then
        echo "blocks: \"$2\" became \"$(tr '\n' '|' < "$copy/result")\""
        failures=$((failures + 1))
    fi
}

blocks 'a|```sh|echo 7|```|b|```text|7|```|c' 'a|```sh|echo 7|```|b|```text|8|9|```|c'
blocks '```sh|echo 7|```|```json|7|```|```json|1|```' '```sh|echo 7|```|```json|```|```json|1|```'
blocks '```sh|echo 1|```|```sh|false|```|```text|```|```cpp|echo 3|```' '```sh|echo 1|```|```sh|false|```|```text|2|```|```cpp|echo 3|```'

# pages <yes|no> <check> <file> <sed script>: does the check complain about the pages and the code, one file changed in this way?
pages() {
    rm -rf "$copy/pages"
    mkdir "$copy/pages"
    (cd "$tests/.." && tar -cf - README.md CHANGELOG.md CONTRIBUTING.md LICENSE docs include tests examples benchmarks) |
        tar -xf - -C "$copy/pages"
    sed -i "$4" "$copy/pages/$3"
    if sh "$here/$2.sh" "$copy/pages" > "$copy/output"; then found=no; else found=yes; fi
    if [ "$found" != "$1" ]; then
        echo "$2: complaint about $3 after sed '$4': expected $1, was $found"
        failures=$((failures + 1))
    fi
}

pages no rules README.md ''
pages yes rules include/allot/core/id.hpp '$a\
// as rule 99 says'
pages yes rules include/allot/core/id.hpp '$a\
/// What follows rules 2, 3\
/// and 98, wherever it stands.'
pages yes rules tests/dispatcher/queue.cpp '$a\
// (seed 007)'
pages yes rules include/allot/core/id.hpp '$a\
// (spec: crynux.md 2.1 to 8.9)'
pages yes rules README.md '$a\
As spec: D99 says.'
pages no rules include/allot/core/id.hpp '$a\
// as rules 2, 3 and 34 say (seed 004; spec: crynux.md 2.1 to 2.8; spec: D17)'
pages yes rules docs/rules.md '/id="rule-14"/d'
pages yes rules docs/rules.md '/^### Rule 14/d'
pages yes rules docs/rules.md 's/id="rule-14"/id="rule-41"/'
pages yes rules docs/rules.md 's/`tests.vectors.cases.hpp`/`tests\/vectors\/case.hpp`/'
pages yes rules docs/architecture.md 's/`parts.hpp`/`part.hpp`/'
pages yes rules docs/rules.md '/^### Rule 3:/,/^### Rule 4:/s/\*Why:\*//'
pages yes rules include/allot/terms/fixed_terms.hpp 's/estimates = 2/estimates = 4/'

pages no pages README.md ''
pages yes pages README.md "$(yes '$a\
more' | head -n 200)"
pages yes pages README.md "1s/\$/ $(yes long | head -n 30 | tr '\n' ' ')/"
pages yes pages docs/rules.md "1s/\$/ $(yes long | head -n 30 | tr '\n' ' ')/"
pages yes pages README.md '$a\
[nowhere](docs/nowhere.md)'
pages yes pages docs/events.md '$a\
[nowhere](rules.md#rule-99)'

# job_page <yes|no> <file> <sed script>: does the check complain about the page of jobs, that page or a header changed in this way?
job_page() {
    rm -rf "$copy/jobs"
    mkdir -p "$copy/jobs/docs" "$copy/jobs/include/allot"
    cp "$tests/../docs/jobs.md" "$copy/jobs/docs/"
    cp -r "$tests/../include/allot/job" "$copy/jobs/include/allot/"
    sed -i "$3" "$copy/jobs/$2"
    if sh "$here/jobs.sh" "$copy/jobs" > "$copy/output"; then found=no; else found=yes; fi
    if [ "$found" != "$1" ]; then
        echo "jobs: complaint about $2 after sed '$3': expected $1, was $found"
        failures=$((failures + 1))
    fi
}

job_page no docs/jobs.md ''
job_page yes docs/jobs.md '/^| `VoteRequest`/d'
job_page yes docs/jobs.md '/^| `MacroEnded`/d'
job_page yes docs/jobs.md 's/`result_late`, `result_twice`, /`result_late`, /'
job_page yes docs/jobs.md '/^| `create`/d'
job_page yes docs/jobs.md 's/^| `tie_break`/| `tie`/'
job_page yes docs/jobs.md 's/^| `failed`/| `dead`/'
job_page yes docs/jobs.md '/^| `Rejection`/d'
job_page yes docs/jobs.md '/`owners_max`/d'
job_page yes docs/jobs.md 's/^| `lock` | 15 s/| `lock` | 16 s/'
job_page yes docs/jobs.md '/^| `quota`/d'
job_page yes docs/jobs.md 's/`author_without_right` |$/`author_without_rights` |/'
job_page yes docs/jobs.md 's/`JobTracker::open_macros`/`JobTracker::opened_macros`/'
job_page yes docs/jobs.md '/^<!-- messages -->/d'
job_page yes include/allot/job/job_message.hpp 's/job_message::VoteRequest,/job_message::VoteRequest, job_message::Veto,/'
job_page yes include/allot/job/job_effects.hpp 's/job_event::MacroEnded,/job_event::MacroClosed,/'
job_page yes include/allot/job/job_error.hpp 's/^    author_wrong = 54,/    author_wrong = 54,\
    author_silent = 57,/'
job_page yes include/allot/job/queue_parameters.hpp 's/lock = std::chrono::seconds{15}/lock = std::chrono::seconds{20}/'

# keys <yes|no> <file of the examples> <sed script, or a line to add after "+">: is that refused?
keys() {
    rm -rf "$copy/examples"
    mkdir -p "$copy/examples"
    cp -r "$tests/../examples/jobs" "$copy/examples/"
    case $3 in
        +*) printf '%s\n' "${3#+}" >> "$copy/examples/$2" ;;
        *) sed -i "$3" "$copy/examples/$2" ;;
    esac
    if sh "$here/keys.sh" "$copy/examples" > "$copy/output"; then found=no; else found=yes; fi
    if [ "$found" != "$1" ]; then
        echo "keys: complaint about $2 after '$3': expected $1, was $found"
        failures=$((failures + 1))
    fi
}

keys no jobs/post.cpp ''
keys yes jobs/post.cpp '+auto is_fine = crypto_sign_verify_detached(a, b, c, d) == 0;'
keys yes jobs/wire.hpp '+auto is_fine = EVP_DigestVerify(a, b, c, d, e) == 1;'
keys yes jobs/keys.cpp '+auto Keyring::other() const -> bool { return keys_.find(a) != keys_.end(); }'
keys yes jobs/keys.cpp 's/crypto_sign_verify_detached(.*) != 0/false/'
keys yes jobs/keys.hpp 's/return !refusal_of(.*;/return true;/'
keys yes jobs/member.cpp 's/, ring_\.check());/);/'
keys yes jobs/contract.cpp 's/ring_\.check()/allot::TrustAuthors{}/'
keys yes jobs/dapp.cpp '+auto fault = fault_of_authors(authorities, sender, message, [](auto&&...) { return true; });'

# golden <yes|no> <what is done to a copy of the golden files>: is that refused?
golden() {
    rm -rf "$copy/golden"
    mkdir -p "$copy/golden/include/allot" "$copy/golden/tests/determinism" "$copy/golden/tests/house"
    cp "$tests/../include/allot/version.hpp" "$copy/golden/include/allot/"
    cp -r "$tests/journal" "$tests/replica" "$copy/golden/tests/"
    cp "$tests/determinism/golden.txt" "$copy/golden/tests/determinism/"
    cp "$tests/house/golden.txt" "$copy/golden/tests/house/"
    if (cd "$copy/golden" && eval "$2") && sh "$here/golden.sh" "$copy/golden" --write > /dev/null &&
        sh "$here/golden.sh" "$copy/golden" > /dev/null; then
        found=no
    else
        found=yes
    fi
    if [ "$found" != "$1" ]; then
        echo "golden: \"$2\": expected $1, was $found"
        failures=$((failures + 1))
    fi
}

change='echo >> tests/journal/golden/v1/events.bin'
golden no true
golden yes "$change"
golden yes 'rm tests/journal/golden/v1/events.bin'
golden no "$change; sed -i 's/MINOR .*/MINOR 99/' include/allot/version.hpp"
golden no 'echo 1 > tests/journal/golden/v1/another.bin'

if [ "$failures" -ne 0 ]; then
    echo "$failures checks do not see what they are for"
    exit 1
fi
