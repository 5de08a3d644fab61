#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/network.hpp"

using namespace support;

// Who may run a task, and with what chance: hardware, platform, version, narrowing, weight (rules 8 to 13).

namespace {

/// The nodes on which a task starts when it is submitted, again and again, under different entropies.
template <class Dispatcher>
auto shares(Dispatcher dispatcher, const TaskSpec& task, int draws) -> std::map<std::string, int> {
    auto found = std::map<std::string, int>{};
    for (auto i = 0; i < draws; ++i) {
        auto session = dispatcher.session();
        ++found[where(dispatcher.submit(task, at(0s, i)))];
        session.rollback();
    }
    return found;
}

/// As above, of names alone.
template <class Dispatcher>
auto candidates(const Dispatcher& dispatcher, const TaskSpec& task) -> std::vector<std::string> {
    auto names = std::vector<std::string>{};
    for (const auto& [name, n] : shares(dispatcher, task, 60)) { names.push_back(name); }
    return names;
}

auto node(const char* id, const char* gpu, std::uint32_t vram) -> NodeSpec {
    return with(plain_node(id), [&](NodeSpec& n) {
        n.gpu = gpu;
        n.vram = allot::Gibibytes{vram};
    });
}

/// The boost alone, less one: no weight without a model.
struct Locality {
    using role = allot::role::weight;
    static constexpr bool monotone = true;
    static auto weight(const allot::Node&, const allot::Task&, const allot::Factors& of) -> allot::Weight {
        return allot::Weight::from_ratio(of.boost_num - of.boost_den, of.boost_den);
    }
};

using Names = std::vector<std::string>;
const auto nobody = Names{""};

}  // namespace

TEST_CASE("a match tries a task whose nodes have weight only as holders of its model") {
    auto d = allot::Dispatcher{Locality{}};
    ok(d.join(with(plain_node(1), [](auto& n) { n.models = {"m"}; }), at(0s)));
    ok(d.submit(with(plain_task(1), [](auto& t) { t.models = {"m"}; }), dark(0s)));
    CHECK(started(d.match(at(0s))) == std::vector<std::string>{"1"});
}

TEST_CASE("a task gets a card that it accepts and no other (rule 10)") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(node("3080-10", "RTX 3080", 10), at(0s)));
    ok(d.join(node("3080-16", "RTX 3080", 16), at(0s)));
    ok(d.join(node("4080-16", "RTX 4080", 16), at(0s)));
    ok(d.join(node("4090-24", "RTX 4090", 24), at(0s)));
    using Choices = std::vector<allot::GpuChoice>;
    struct Case {
        std::uint32_t vram_min;
        Choices gpus;
        Names expected;
    };
    const auto c = GENERATE(values<Case>({
        {1, {}, {"3080-10", "3080-16", "4080-16", "4090-24"}},
        {10, {}, {"3080-10", "3080-16", "4080-16", "4090-24"}},
        {11, {}, {"3080-16", "4080-16", "4090-24"}},
        {16, {}, {"3080-16", "4080-16", "4090-24"}},
        {17, {}, {"4090-24"}},
        {25, {}, nobody},
        {0, {{"RTX 3080", 16_GiB}}, {"3080-16"}},         // exact: name and VRAM
        {0, {{"RTX 3080", 12_GiB}}, nobody},              // not "at least"
        {0, {{"rtx 3080", 16_GiB}}, nobody},              // names are compared as they are
        {24, {{"RTX 3080", 10_GiB}}, {"3080-10"}},        // an exact card overrules vram_min
        {1, {{"RTX 3080", {}}}, {"3080-10", "3080-16"}},  // by name alone: any VRAM from the minimum on
        {11, {{"RTX 3080", {}}}, {"3080-16"}},
        {17, {{"RTX 3080", {}}}, nobody},
        {0, {{"RTX 3080", 10_GiB}, {"RTX 4080", 16_GiB}}, {"3080-10", "4080-16"}},
        {16, {{"RTX 3080", {}}, {"RTX 4090", 24_GiB}}, {"3080-16", "4090-24"}},
        {16, {{"RTX 3080", {}}, {"RTX 3080", 10_GiB}}, {"3080-10", "3080-16"}},
    }));
    CAPTURE(c.vram_min, c.gpus.size(), c.gpus.empty() ? std::string{} : c.gpus[0].name);
    CHECK(candidates(d, with(plain_task(1), [&](TaskSpec& t) {
                         t.vram_min = allot::Gibibytes{c.vram_min};
                         t.gpus = c.gpus;
                     })) == c.expected);
}

TEST_CASE("requirements that say the same are one group") {
    auto d = allot::Dispatcher<>{};
    const auto submit = [&](int id, std::uint32_t vram, std::vector<allot::GpuChoice> gpus,
                            std::vector<std::string> platforms) {
        ok(d.submit(with(plain_task(id),
                         [&](TaskSpec& t) {
                             t.vram_min = allot::Gibibytes{vram};
                             t.gpus = std::move(gpus);
                             t.platforms = std::move(platforms);
                         }),
                    dark(0s)));
    };
    submit(1, 0, {{"A", 8_GiB}, {"B", 8_GiB}}, {"x", "y"});
    submit(2, 0, {{"B", 8_GiB}, {"A", 8_GiB}, {"B", 8_GiB}}, {"y", "x", "x"});
    submit(3, 16, {{"A", 8_GiB}, {"B", 8_GiB}}, {"x", "y"});  // ignored: both cards are exact
    CHECK(d.state().fits().requirements().size() == 1);
    submit(4, 16, {{"A", {}}, {"B", 8_GiB}}, {"x", "y"});
    CHECK(d.state().fits().requirements().size() == 2);
    // Of platforms accepted and refused at once, what is left says it all.
    auto refusing = with(plain_task(5), [](TaskSpec& t) {
        t.gpus = {{"B", 8_GiB}, {"A", 8_GiB}};
        t.platforms = {"x", "y", "z"};
        t.platforms_refused = {"z", "w"};
    });
    ok(d.submit(refusing, at(0s)));
    CHECK(d.state().fits().requirements().size() == 2);
    refusing = with(plain_task(6), [](TaskSpec& t) { t.platforms_refused = {"z", "w", "z"}; });
    ok(d.submit(refusing, at(0s)));
    refusing = with(plain_task(7), [](TaskSpec& t) { t.platforms_refused = {"w", "z"}; });
    ok(d.submit(refusing, at(0s)));
    CHECK(d.state().fits().requirements().size() == 3);
}

TEST_CASE("a task that lists platforms runs on those alone") {
    auto d = allot::Dispatcher<>{};
    for (const auto* platform : {"Linux", "Darwin", ""}) {
        ok(d.join(with(plain_node(*platform == '\0' ? "unsaid" : platform), [&](auto& n) { n.platform = platform; }),
                  at(0s)));
    }
    const auto on = [&](std::vector<std::string> platforms) {
        return candidates(d, with(plain_task(1), [&](TaskSpec& t) { t.platforms = platforms; }));
    };
    CHECK(on({}) == Names{"Darwin", "Linux", "unsaid"});
    CHECK(on({"Linux"}) == Names{"Linux"});
    CHECK(on({"Windows", "Darwin"}) == Names{"Darwin"});
    CHECK(on({"Windows"}) == nobody);
}

TEST_CASE("a task that refuses platforms runs on all others") {
    auto d = allot::Dispatcher<>{};
    for (const auto* platform : {"Linux", "Darwin", ""}) {
        ok(d.join(with(plain_node(*platform == '\0' ? "unsaid" : platform), [&](auto& n) { n.platform = platform; }),
                  at(0s)));
    }
    const auto but = [&](std::vector<std::string> accepted, std::vector<std::string> refused) {
        return candidates(d, with(plain_task(1), [&](TaskSpec& t) {
                              t.platforms = accepted;
                              t.platforms_refused = refused;
                          }));
    };
    CHECK(but({}, {"Darwin"}) == Names{"Linux", "unsaid"});
    CHECK(but({}, {"Windows", "Darwin", "Linux"}) == Names{"unsaid"});
    CHECK(but({"Linux", "Darwin"}, {"Darwin", "Darwin"}) == Names{"Linux"});
}

TEST_CASE("a node serves tasks of its own major version that need nothing newer") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(with(plain_node("2.5.1"), [](auto& n) { n.software = {2, 5, 1}; }), at(0s)));
    struct Case {
        std::optional<allot::SoftwareVersion> needed;
        bool runs;
    };
    const auto c = GENERATE(values<Case>({
        {std::nullopt, true},
        {allot::SoftwareVersion{2, 5, 1}, true},
        {allot::SoftwareVersion{2, 5, 0}, true},
        {allot::SoftwareVersion{2, 4, 9}, true},
        {allot::SoftwareVersion{2, 5, 2}, false},
        {allot::SoftwareVersion{2, 6, 0}, false},
        {allot::SoftwareVersion{1, 0, 0}, false},
        {allot::SoftwareVersion{3, 0, 0}, false},
    }));
    auto copy = d;
    CHECK(started(copy.submit(with(plain_task(1), [&](TaskSpec& t) { t.software = c.needed; }), at(0s))).size() ==
          (c.runs ? 1U : 0U));
}

TEST_CASE("candidates are narrowed to holders as the rules say (rule 9)") {
    using allot::Narrowing;
    struct Case {
        Narrowing narrowing;
        std::vector<std::string> models;
        Names expected;
    };
    const auto c = GENERATE(values<Case>({
        {Narrowing::any, {}, {"a", "ab", "none"}},  // no models, no narrowing
        {Narrowing::any, {"A"}, {"a", "ab"}},
        {Narrowing::any, {"B"}, {"ab"}},
        {Narrowing::any, {"A", "B"}, {"a", "ab"}},  // one of them is enough
        {Narrowing::any, {"B", "C"}, {"ab"}},
        {Narrowing::any, {"C"}, {"a", "ab", "none"}},  // nobody: all
        {Narrowing::all, {}, {"a", "ab", "none"}},
        {Narrowing::all, {"A", "B"}, {"ab"}},
        {Narrowing::all, {"A"}, {"a", "ab"}},
        {Narrowing::all, {"A", "C"}, {"a", "ab", "none"}},
        {Narrowing::gate, {}, {"a", "ab", "none"}},
        {Narrowing::gate, {"A"}, {"a", "ab"}},
        {Narrowing::gate, {"A", "B"}, {"ab"}},
        {Narrowing::gate, {"A", "C"}, nobody},  // no fallback
        {Narrowing::gate, {"C"}, nobody},
    }));
    auto d = allot::Dispatcher{allot::Rules{{.narrowing = c.narrowing}}};
    ok(d.join(with(plain_node("none"), [](auto&) {}), at(0s)));
    ok(d.join(with(plain_node("a"), [](auto& n) { n.models = {"A"}; }), at(0s)));
    ok(d.join(with(plain_node("ab"), [](auto& n) { n.models = {"B", "A"}; }), at(0s)));
    CAPTURE(int(c.narrowing), c.models);
    CHECK(candidates(d, with(plain_task(1), [&](TaskSpec& t) { t.models = c.models; })) == c.expected);
}

TEST_CASE("a holder that is not eligible starves nobody: eligible first, narrowed second (rule 8)") {
    const auto spoil = GENERATE(0, 1, 2, 3, 4, 5);
    auto d = allot::Dispatcher<>{};
    ok(d.join(plain_node("other"), at(0s)));
    const auto holder = with(plain_node("holder"), [&](NodeSpec& n) {
        n.models = {"A"};
        n.stake = spoil == 0 ? 0 : 400;
        n.vram = spoil == 1 ? 4_GiB : 24_GiB;
        n.platform = spoil == 2 ? "Darwin" : "Linux";
    });
    ok(d.join(holder, at(0s)));
    ok(d.update({.id = "other", .platform = "Linux"}, at(0s)));
    if (spoil == 3) {
        ok(d.pause("holder", at(0s)));
    } else if (spoil == 4) {
        for (auto i = 0; i < 3; ++i) { ok(d.observe("holder", allot::OutcomeKind::timeout, at(0s))); }
    } else if (spoil == 5) {
        ok(d.submit(with(plain_task(9), [](auto& t) { t.models = {"A"}; }), at(0s)));
    }
    CAPTURE(spoil);
    CHECK(candidates(d, with(plain_task(1), [](TaskSpec& t) {
                         t.models = {"A"};
                         t.platforms = {"Linux"};
                     })) == Names{"other"});
}

TEST_CASE("a node with zero weight is never drawn, alone or beside others") {
    auto d = allot::Dispatcher{allot::RollingQos{{.score_floor = {}}}};
    for (auto id = 1; id <= 5; ++id) {
        ok(d.join(with(plain_node(id), [&](auto& n) { n.stake = id == 3 ? 1 : 0; }), at(0s)));
    }
    CHECK(candidates(d, plain_task(1)) == Names{"3"});
    ok(d.update({.id = 3, .stake = 0}, at(0s)));
    CHECK(candidates(d, plain_task(1)) == nobody);  // all zero: no candidate, never the first
    ok(d.score(4, 0, at(0s)));
    ok(d.update({.id = 4, .stake = 9}, at(0s)));  // a stake, but every verdict was zero
    CHECK(candidates(d, plain_task(1)) == nobody);
}

TEST_CASE("without entropy nothing is drawn and the task waits") {
    auto d = allot::Dispatcher<>{};
    join_plain(d, 3);
    const auto events = d.submit(plain_task(1), dark(0s));
    CHECK(events.accepted());
    CHECK(events.lease() == nullptr);
    CHECK(events.get<event::TaskQueued>() != nullptr);
    CHECK(started(d.advance(dark(1s))).empty());
    CHECK(started(d.match(at(1s))) == Names{"1"});
}

TEST_CASE("nodes are drawn in proportion to W = M S Q / (S + Q)") {
    // Models of the task: A and B. On disk and loaded give M = 1.35, 1.85 and 2 (spec: golden numbers).
    struct Member {
        const char* id;
        std::uint64_t stake;
        std::uint32_t verdict;
        std::vector<std::string> disk;
        bool load;
    };
    const auto members = std::array<Member, 5>{{
        {"p", 1600, 5, {"A"}, false},
        {"q", 400, 10, {"A", "B"}, false},
        {"r", 100, 2, {"A", "B"}, true},
        {"s", 1600, 10, {"B"}, true},
        {"t", 6400, 10, {}, false},  // holds nothing, so it is narrowed out, yet its stake is the largest
    }};
    auto d = allot::Dispatcher<>{};
    auto weights = std::map<std::string, double>{};
    for (const auto& m : members) {
        ok(d.join(with(plain_node(m.id),
                       [&](auto& n) {
                           n.stake = m.stake;
                           n.models = m.disk;
                       }),
                  at(0s)));
        ok(d.score(m.id, m.verdict, at(0s)));
        if (m.load) { ok(d.report_model(m.id, command::Report::load, m.disk, at(0s))); }
        const auto s = std::sqrt(double(m.stake)) / 80.0;
        const auto q = m.verdict / 10.0;
        const auto boost = 1.0 + 0.35 * double(m.disk.size()) + (m.load ? 0.15 * double(m.disk.size()) : 0.0);
        weights[m.id] = m.disk.empty() ? 0.0 : boost * s * q / (s + q);
    }
    const auto draws = 10'000;
    const auto task = with(plain_task(1), [](TaskSpec& t) { t.models = {"B", "A"}; });
    auto found = shares(d, task, draws);
    auto sum = 0.0;
    for (const auto& [id, w] : weights) { sum += w; }
    CHECK(found.count("t") == 0);
    auto chi_square = 0.0;
    for (const auto& [id, w] : weights) {
        if (w > 0) {
            const auto expected = draws * w / sum;
            CAPTURE(id, expected, found[id]);
            chi_square += (found[id] - expected) * (found[id] - expected) / expected;
        }
    }
    CHECK(chi_square < 30.7);  // 3 degrees of freedom, p = 1e-6
}

TEST_CASE("a draw depends on the entropy, the task and its attempt, and on nothing that happened before") {
    auto a = allot::Dispatcher<>{};
    auto b = allot::Dispatcher<>{};
    join_plain(a, 20);
    join_plain(b, 20);
    for (auto id = 100; id < 110; ++id) {  // ten tasks come and go on b alone
        ok(b.complete(leased(b.submit(plain_task(id), at(0s))), at(0s)));
    }
    for (auto id = 1; id <= 10; ++id) {
        CHECK(where(a.submit(plain_task(id), at(0s))) == where(b.submit(plain_task(id), at(0s))));
    }
}

TEST_CASE("small stakes beside a huge one keep their share of each other") {
    auto d = allot::Dispatcher<>{};
    ok(d.join(with(plain_node("whale"), [](auto& n) { n.stake = allot::Amount{allot::u128{1} << 95}; }), at(0s)));
    ok(d.join(with(plain_node("one"), [](auto& n) { n.stake = 100; }), at(0s)));
    ok(d.join(with(plain_node("two"), [](auto& n) { n.stake = 400; }), at(0s)));
    ok(d.pause("whale", at(0s)));  // no candidate, but still the largest stake
    const auto found = shares(d, plain_task(1), 6'000);
    CHECK(found.at("one") + found.at("two") == 6'000);
    CHECK(std::abs(found.at("two") - 4'000) < 200);  // 2 : 1; 200 is 5.5 standard deviations
}
