#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <allot/allot.hpp>
#include <allot/journal/snapshot.hpp>

#include "support/catch.hpp"
#include "support/chaos.hpp"
#include "support/network.hpp"
#include "support/seed.hpp"

namespace snapshot_test {

// Snapshots of other dispatchers, damaged ones and those of a forger are refused with a word for each; what is taken,
// is one state in its only form.

namespace {

using allot::SnapshotError;
using Bytes = std::vector<std::uint8_t>;
using Chaos = support::Chaos<allot::Dispatcher<>>;

// A dispatcher with a bit of everything, after some random commands.
auto grown(std::uint64_t seed, int commands) -> allot::Dispatcher<> {
    auto d = allot::Dispatcher<>{};
    auto chaos = Chaos{seed, true};
    for (auto i = 0; i < commands; ++i) {
        const auto moment = chaos.moment(d);
        (void)d.apply(chaos.command(d), moment);
    }
    return d;
}

// A forger hashes what was changed. The content stands in one chunk between the header and two hashes.
auto forged(Bytes bytes) -> Bytes {
    bytes.erase(bytes.end() - 64, bytes.end());
    const auto content = std::span<const std::uint8_t>{bytes}.subspan(20);
    REQUIRE(content.size() < allot::snapshot_chunk);
    const auto chunk = allot::Sha256{}.bytes(content).finish();
    const auto all = allot::Sha256{}.bytes(std::span{bytes}.first(20)).bytes(chunk).finish();
    bytes.insert(bytes.end(), chunk.begin(), chunk.end());
    bytes.insert(bytes.end(), all.begin(), all.end());
    return bytes;
}

auto error_of(std::span<const std::uint8_t> bytes) -> std::optional<SnapshotError> {
    const auto loaded = allot::load_snapshot(bytes, allot::Dispatcher<>{});
    return loaded ? std::nullopt : std::optional{loaded.error().error};
}

/// What a forged snapshot is refused for.
auto accused(const Bytes& changed) -> std::string {
    const auto loaded = allot::load_snapshot(forged(changed), allot::Dispatcher<>{});
    return loaded ? std::string{} : std::string{loaded.error().what};
}

struct Nameless {
    using role = allot::role::valuation;
    static constexpr std::string_view name = "worth_nothing/1";
    static auto value(const allot::Task&, const allot::Requirement&) -> allot::Value { return {}; }
};

}  // namespace

TEST_CASE("a snapshot gives back the dispatcher, and again the same bytes") {
    const auto d = grown(support::seed(), 2'000);
    REQUIRE(d.state().tasks().size() > 0);
    const auto bytes = allot::snapshot(d, 77);
    const auto loaded = allot::load_snapshot(bytes, allot::Dispatcher<>{});
    REQUIRE(loaded);
    CHECK(loaded->position == 77);
    CHECK(loaded->dispatcher == d);
    CHECK(loaded->state_root == allot::state_root(d));
    CHECK(allot::snapshot(loaded->dispatcher, 77) == bytes);
    CHECK(allot::load_snapshot(allot::snapshot(allot::Dispatcher<>{}, 0), allot::Dispatcher<>{}));
}

// Written once for each version of the form, by this test with ALLOT_WRITE_GOLDEN set, and never again.
TEST_CASE("a snapshot that was ever written is read") {
    const auto path = std::filesystem::path{ALLOT_TESTS_DIR} / "journal" / "snapshots" / "v2.bin";
    if (std::getenv("ALLOT_WRITE_GOLDEN") != nullptr && !std::filesystem::exists(path)) {
        std::filesystem::create_directories(path.parent_path());
        const auto bytes = allot::snapshot(grown(1, 60), 60);
        std::ofstream{path, std::ios::binary} << std::string(bytes.begin(), bytes.end());
    }
    auto file = std::ifstream{path, std::ios::binary};
    REQUIRE(file);
    const auto text = std::string{std::istreambuf_iterator<char>{file}, {}};
    const auto bytes = Bytes(text.begin(), text.end());
    auto then = allot::RulesParameters{};
    then.renewals_max = 1'024;  // the default when it was written
    const auto loaded = allot::load_snapshot(bytes, allot::Dispatcher{allot::Rules{then}});
    REQUIRE(loaded);
    CHECK(loaded->position == 60);
    CHECK(loaded->dispatcher.state().nodes().size() > 0);
    CHECK(allot::snapshot(loaded->dispatcher, 60) == bytes);
}

TEST_CASE("whichever model that decides alike a replica runs, the state root is the same") {
    auto fast = allot::Dispatcher<>{};
    auto linear = allot::Dispatcher<allot::LinearPool, allot::LinearQueue>{};
    const auto m = support::at({});
    for (auto i = 1; i < 9; ++i) {
        support::ok(fast.join(support::plain_node(i), m));
        support::ok(linear.join(support::plain_node(i), m));
    }
    CHECK(allot::state_root(fast) == allot::state_root(linear));
    CHECK(allot::load_snapshot(allot::snapshot(fast, 1), allot::Dispatcher<allot::LinearPool, allot::LinearQueue>{}));
}

TEST_CASE("a snapshot of other policies or parameters is refused, and says of which") {
    const auto bytes = allot::snapshot(allot::Dispatcher<>{}, 0);
    const auto other_policy = allot::load_snapshot(bytes, allot::Dispatcher{Nameless{}});
    REQUIRE_FALSE(other_policy);
    CHECK(other_policy.error().error == SnapshotError::policy_differs);
    CHECK(other_policy.error().what == "worth_nothing/1");

    const auto rules = allot::Rules{{.due_max = 7}};
    const auto other = allot::load_snapshot(bytes, allot::Dispatcher{rules});
    REQUIRE_FALSE(other);
    CHECK(other.error().error == SnapshotError::parameters_differ);
    CHECK(other.error().what == "RulesParameters");

    const auto taken = allot::load_snapshot(bytes, allot::Dispatcher{rules}, {allot::SnapshotParameters::taken_over});
    REQUIRE(taken);
    CHECK(taken->dispatcher.rules()->due_max == 1'024);
    CHECK(allot::snapshot(taken->dispatcher, 0) == bytes);

    // No dispatcher has parameters without sense, so its snapshot is forged.
    auto senseless = allot::snapshot(allot::Dispatcher{allot::Rules{{.due_max = 0x4321'8765U}}}, 0);
    const auto number = std::array<std::uint8_t, 4>{0x65, 0x87, 0x21, 0x43};
    const auto at = std::search(senseless.begin(), senseless.end(), number.begin(), number.end());
    REQUIRE(at != senseless.end());
    std::fill_n(at, number.size(), std::uint8_t{0});
    const auto refused =
        allot::load_snapshot(forged(senseless), allot::Dispatcher<>{}, {allot::SnapshotParameters::taken_over});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().error == SnapshotError::parameters_invalid);
}

TEST_CASE("the policies of AllOf are told apart, too") {
    using One = allot::Dispatcher<allot::AllOf<allot::HardwareFit>>;
    using Two = allot::Dispatcher<allot::AllOf<allot::HardwareFit, allot::HardwareFit>>;
    const auto bytes = allot::snapshot(One{}, 0);
    CHECK(allot::load_snapshot(bytes, One{}));
    CHECK_FALSE(allot::load_snapshot(bytes, Two{}));
    CHECK_FALSE(allot::load_snapshot(allot::snapshot(Two{}, 0), One{}));
}

TEST_CASE("a snapshot cut anywhere or with any bit flipped is refused") {
    const auto bytes = allot::snapshot(grown(support::seed() + 1, 60), 1);
    for (std::size_t size = 0; size < bytes.size(); ++size) { REQUIRE(error_of(std::span{bytes}.first(size))); }
    auto random = std::mt19937_64{support::seed()};
    for (auto i = 0; i < 400; ++i) {
        auto flipped = bytes;
        const auto bit = random() % (bytes.size() * 8);
        flipped[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
        REQUIRE(error_of(flipped));
    }
    CHECK(error_of({}) == SnapshotError::not_a_snapshot);
    auto versioned = bytes;
    versioned[8] = 9;
    CHECK(error_of(versioned) == SnapshotError::version_unknown);
    versioned = bytes;
    versioned.back() ^= 1U;
    CHECK(error_of(versioned) == SnapshotError::damaged);
    auto longer = bytes;
    longer.insert(longer.end() - 64, 0);
    CHECK(error_of(forged(longer)) == SnapshotError::malformed);
    auto rooted = bytes;
    rooted[rooted.size() - 65] ^= 1U;
    CHECK(error_of(forged(rooted)) == SnapshotError::contradiction);
}

TEST_CASE("entries in another order are refused, although they say the same") {
    auto d = allot::Dispatcher<>{};
    support::ok(d.join(support::with(support::plain_node(1),
                                     [](auto& n) {
                                         n.models = {"llama", "whale"};
                                     }),
                       support::at({})));
    auto bytes = allot::snapshot(d, 1);
    const auto entry = [&](std::uint8_t id, std::string_view name) {  // id, length, name
        auto of = Bytes{id, 0, 0, 0, 5, 0, 0, 0};
        of.insert(of.end(), name.begin(), name.end());
        return std::search(bytes.begin(), bytes.end(), of.begin(), of.end());
    };
    const auto first = entry(0, "llama");
    const auto second = entry(1, "whale");
    REQUIRE(second - first == 13);
    std::swap_ranges(first, second, second);
    const auto loaded = allot::load_snapshot(forged(bytes), allot::Dispatcher<>{});
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().error == SnapshotError::not_canonical);
    CHECK(loaded.error().what == "models");
    CHECK(loaded.error().entry == 0);
}

TEST_CASE("whatever a forger writes is refused, or is a state in its only form that goes on without a fault") {
    // The loader itself, past the hashes that a forger can compute as well as anybody.
    auto random = std::mt19937_64{support::seed()};
    auto refused = 0;
    auto taken = 0;
    constexpr auto began = std::size_t{20 + 4 + 8};  // behind the header and an empty section of the embedder
    constexpr auto ended = std::ptrdiff_t{3 * 32};   // before the root and two hashes
    for (auto round = 0; round < 6; ++round) {
        const auto original = allot::snapshot(grown(random(), 40 + round * 40), 1);
        for (auto i = 0; i < 1'500; ++i) {
            auto bytes = original;
            for (auto changes = 1 + random() % 2; changes > 0; --changes) {
                const auto at = began + random() % (bytes.size() - began - std::size_t{ended});
                switch (random() % 4) {
                    case 0: bytes[at] = static_cast<std::uint8_t>(random()); break;
                    case 1: bytes[at] ^= static_cast<std::uint8_t>(1U << (random() % 8)); break;
                    case 2: bytes[at] = static_cast<std::uint8_t>(bytes[at] + 1U); break;
                    default: bytes[at] = random() % 2 == 0 ? 0x00 : 0xFF; break;
                }
            }
            auto composed = allot::Dispatcher<>{};
            auto body = allot::ByteReader{std::span{bytes}.subspan(began, bytes.size() - began - std::size_t{ended})};
            if (allot::detail::read_policies(body, composed, allot::SnapshotParameters::must_match)) {
                ++refused;
                continue;
            }
            auto loader = allot::detail::SnapshotLoader<allot::Dispatcher<>>{body, composed.state().key(), 1'000'000};
            if (const auto fault = loader.load()) {
                REQUIRE_FALSE(message(fault->error).empty());
                ++refused;
                continue;
            }
            if (body.remaining() > 0) {
                ++refused;
                continue;
            }
            ++taken;
            composed.adopt(std::move(loader.state()));
            const auto again = allot::snapshot(composed, 1);
            REQUIRE(std::equal(bytes.begin(), bytes.end() - ended, again.begin(), again.end() - ended));
            auto chaos = Chaos{random(), true};
            for (auto step = 0; step < 12; ++step) {
                const auto moment = chaos.moment(composed);
                (void)composed.apply(chaos.command(composed), moment);
            }
        }
    }
    CHECK(refused > 1'000);
    CHECK(taken > 1'000);  // most bytes are ids, names and amounts, which may be any
}

TEST_CASE("a snapshot holds no number that a command would not have brought there") {
    auto d = allot::Dispatcher<>{};
    const auto m = support::dark({});
    constexpr auto mark = 0x12'3456U;
    support::ok(d.join(support::with(support::plain_node(1), [](auto& n) { n.stake = mark; }), m));
    support::ok(d.submit(support::with(support::plain_task(1), [](auto& t) { t.fee = mark + 1; }), m));
    support::ok(d.submit(
        support::with(support::plain_task(2), [](auto& t) { t.duration_estimate = allot::Duration{mark + 2}; }), m));
    const auto bytes = allot::snapshot(d, 1);
    REQUIRE_FALSE(error_of(forged(bytes)));
    // Refused for the number itself: the state root, which comes last, would refuse any change.
    // Each stands there with the lowest byte first, and gets a high one.
    const auto with_high = [&](unsigned number, std::ptrdiff_t high) {
        auto changed = bytes;
        const auto word = std::vector<std::uint8_t>{static_cast<std::uint8_t>(number),
                                                    static_cast<std::uint8_t>(number >> 8U),
                                                    static_cast<std::uint8_t>(number >> 16U),
                                                    0,
                                                    0,
                                                    0,
                                                    0,
                                                    0};
        const auto at = std::search(changed.begin(), changed.end(), word.begin(), word.end());
        REQUIRE(at != changed.end());
        *(at + high) = 1;
        return accused(changed);
    };
    CHECK(with_high(mark, 12) == "nodes");
    CHECK(with_high(mark + 1, 12) == "tasks");
    CHECK(with_high(mark + 2, 4) == "tasks");
    // A stake too high is none with its own root either.
    auto rooted = bytes;
    const auto put = [&](const auto& was, const auto& is) {
        const auto old = allot::encode(was);  // behind a byte that tells the version
        const auto at = std::search(rooted.begin(), rooted.end(), old.begin() + 1, old.end());
        REQUIRE(at != rooted.end());
        const auto forged_as = allot::encode(is);
        std::copy(forged_as.begin() + 1, forged_as.end(), at);
    };
    const auto high = allot::u128{mark} + (allot::u128{1} << 96);
    put(allot::StakeRoot::from(mark), allot::StakeRoot::from(high));
    put(allot::Amount{mark}, allot::Amount{high});
    CHECK(accused(rooted) == "nodes");
}

TEST_CASE("a node that departs is due in each snapshot, for a forger could keep its models for ever") {
    auto d = allot::Dispatcher<>{};
    constexpr auto mark = 0x12'3456U;
    support::ok(d.join(support::with(support::plain_node(1),
                                     [](auto& n) {
                                         for (auto i = 0; i < 200; ++i) { n.models.push_back(std::to_string(i)); }
                                     }),
                       support::dark({})));
    support::ok(d.leave(1, support::dark(allot::Duration{mark})));
    support::ok(d.postpone(allot::Duration{1}, support::dark(allot::Duration{mark + 1})));  // settles nothing
    const auto bytes = allot::snapshot(d, 1);
    REQUIRE_FALSE(error_of(forged(bytes)));
    const auto due_at = std::vector<std::uint8_t>{0x56, 0x34, 0x12, 0, 0, 0, 0, 0};
    auto changed = bytes;
    const auto at = std::search(changed.begin(), changed.end(), due_at.begin(), due_at.end());
    REQUIRE(at != changed.end());
    *(at + 4) = 1;
    CHECK(accused(changed) == "nodes");
    auto loaded = allot::load_snapshot(bytes, allot::Dispatcher<>{});
    REQUIRE(loaded);
    support::ok(loaded->dispatcher.advance(support::dark(allot::Duration{mark + 1})));
    CHECK(loaded->dispatcher.state().models().names().size() == 0);
}

TEST_CASE("a node departs in a snapshot only with models, for nothing else would end it") {
    const auto paused_as_departing = [](std::vector<std::string> models) {
        auto d = allot::Dispatcher<>{};
        const auto m = support::dark({});
        support::ok(d.join(support::with(support::plain_node(1), [&](auto& n) { n.models = models; }), m));
        support::ok(d.pause(1, m));
        auto bytes = allot::snapshot(d, 1);
        const auto never = allot::encode(allot::never);  // behind a byte that tells the version
        const auto at = std::search(bytes.begin(), bytes.end(), never.begin() + 1, never.end());
        REQUIRE(at != bytes.end());
        std::fill_n(at, 8, std::uint8_t{0});  // due at once
        const auto state = at + 8 + 3 * 4;    // behind class, slot and lease
        REQUIRE(*state == static_cast<std::uint8_t>(allot::NodeState::paused));
        *state = static_cast<std::uint8_t>(allot::NodeState::departing);
        return accused(bytes);
    };
    CHECK(paused_as_departing({}) == "nodes");
    CHECK(paused_as_departing({"a"}) != "nodes");  // only its root is another one
}

TEST_CASE("a snapshot at the end of time is loaded, although all that it waits for lies beyond") {
    const auto last = support::at(allot::time_point_max.time_since_epoch());
    auto d = allot::Dispatcher<>{};
    auto low = support::plain_task(9);
    low.vram_min = allot::Gibibytes{4'096};  // waits, for no node has so much
    low.group = 7;
    support::ok(d.submit(low, last));
    for (auto i = 1; i <= 4; ++i) { support::ok(d.join(support::plain_node(i), last)); }
    for (auto i = 1; i <= 3; ++i) { support::ok(d.submit(support::plain_task(i), last)); }
    support::ok(d.cancel(2, last));
    support::ok(d.cancel(9, last));
    low.id = 10;
    support::ok(d.submit(low, last));
    support::ok(d.postpone(allot::Duration{1'000}, last));
    const auto lease = d.lease(1);
    REQUIRE(lease);
    REQUIRE(lease->deadline > allot::time_point_max);
    for (auto i = 1; i <= 4; ++i) {
        if (d.node(i)->node.state == allot::NodeState::available) { support::ok(d.leave(i, last)); }
    }
    const auto bytes = allot::snapshot(d, 5);
    const auto loaded = allot::load_snapshot(bytes, allot::Dispatcher<>{});
    REQUIRE(loaded);
    CHECK(loaded->dispatcher == d);
    CHECK(allot::snapshot(loaded->dispatcher, 5) == bytes);
}

TEST_CASE("nothing is due in a snapshot later than the longest wait from the end of time") {
    const auto last = support::at(allot::time_point_max.time_since_epoch());
    const auto with_due_at = [&](const allot::Dispatcher<>& d, allot::TimePoint was, allot::TimePoint is) {
        auto bytes = allot::snapshot(d, 1);
        const auto old = allot::encode(was);  // behind a byte that tells the version
        const auto at = std::search(bytes.begin(), bytes.end(), old.begin() + 1, old.end());
        REQUIRE(at != bytes.end());
        const auto forged_as = allot::encode(is);
        std::copy(forged_as.begin() + 1, forged_as.end(), at);
        return accused(bytes);
    };
    constexpr auto most = allot::time_point_max + allot::Duration{std::int64_t{1} << 40};
    auto d = allot::Dispatcher<>{};
    support::ok(d.submit(support::plain_task(1), last));
    const auto task_due = d.next_deadline().value();
    CHECK(with_due_at(d, task_due, most) != "tasks");  // only its root is another one
    CHECK(with_due_at(d, task_due, most + allot::Duration{1}) == "tasks");
    support::ok(d.join(support::plain_node(1), last));
    const auto lease_due = d.lease(1).value().deadline;
    CHECK(with_due_at(d, lease_due, most) != "leases");
    CHECK(with_due_at(d, lease_due, most + allot::Duration{1}) == "leases");
    CHECK(with_due_at(d, lease_due, allot::TimePoint::min()) == "leases");
    CHECK(with_due_at(d, lease_due, allot::never) == "leases");
}

TEST_CASE("a requirement that both accepts and refuses platforms is in no snapshot") {
    auto d = allot::Dispatcher<>{};
    support::ok(d.submit(support::with(support::plain_task(1), [](auto& t) { t.platforms_refused = {"abc"}; }),
                         support::dark({})));
    auto bytes = allot::snapshot(d, 1);
    const auto refused = Bytes{0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 'a', 'b', 'c'};  // none accepted, and the list
    const auto at = std::search(bytes.begin(), bytes.end(), refused.begin(), refused.end());
    REQUIRE(at != bytes.end());
    *at = 1;  // one platform accepted
    const auto accepted = Bytes{3, 0, 0, 0, 'x', 'y', 'z'};
    bytes.insert(at + 4, accepted.begin(), accepted.end());
    CHECK(error_of(forged(bytes)) == SnapshotError::not_canonical);
}

TEST_CASE("a model's name that no rules admit is in no snapshot, for an event has room for 128 bytes") {
    auto d = allot::Dispatcher<>{};
    const auto name = std::string(allot::Name::size_max, 'x');
    support::ok(
        d.submit(support::with(support::plain_task(1), [&](auto& t) { t.models = {name}; }), support::dark({})));
    auto bytes = allot::snapshot(d, 1);
    CHECK(allot::load_snapshot(bytes, allot::Dispatcher<>{}));
    const auto at = std::search(bytes.begin(), bytes.end(), name.begin(), name.end());
    REQUIRE(at != bytes.end());
    ++*(at - 4);  // one byte more, and here it is
    bytes.insert(at, std::uint8_t{'x'});
    CHECK(accused(bytes) == "models");
}

TEST_CASE("of an ended task no ending is believed that cannot be: not for such a cause, not by a node, not by none") {
    auto d = allot::Dispatcher<>{};
    support::ok(d.join(support::plain_node(1), support::at({})));
    support::ok(d.complete(support::leased(d.submit(support::plain_task(7), support::at({}))), support::at({})));
    const auto bytes = allot::snapshot(d, 1);
    const auto record = d.state().ended_tasks()[allot::EndedHandle{0}];
    const auto written = allot::encode(record);  // behind a byte that tells the version
    auto believed = 0;
    for (const auto node : {record.node, allot::no_handle<allot::NodeNameId>}) {
        for (const auto ending : allot::enumerators<allot::Ending>()) {
            for (const auto cause : allot::enumerators<allot::EndCause>()) {
                auto other = record;
                other.node = node;
                other.ending = ending;
                other.cause = cause;
                auto changed = bytes;
                const auto at = std::search(changed.begin(), changed.end(), written.begin() + 1, written.end());
                REQUIRE(at != changed.end());
                const auto as = allot::encode(other);
                std::copy(as.begin() + 1, as.end(), at);
                believed += accused(changed) == "ended tasks" ? 0 : 1;  // what else is wrong is told after it
            }
        }
    }
    CHECK(believed == 6 + 5);  // done, failed for four causes, too late; cancelled, evicted for three, waited too long
}

TEST_CASE("a small snapshot cannot ask for much memory") {
    auto d = allot::Dispatcher<>{};
    const auto m = support::at({});
    support::ok(d.join(support::plain_node(1), m));
    const auto bytes = allot::snapshot(d, 1);
    CHECK(allot::load_snapshot(bytes, allot::Dispatcher<>{}, {.reach_max = 0}));
    // The node's handle, the first word after its section's count, which is 1.
    const auto id = allot::NodeId{1}.bytes();
    const auto at = std::search(bytes.begin(), bytes.end(), id.begin(), id.end()) - bytes.begin();
    auto far = bytes;
    far[static_cast<std::size_t>(at) - 1] = 0x7F;
    const auto loaded = allot::load_snapshot(forged(far), allot::Dispatcher<>{});
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().error == SnapshotError::too_sparse);
    CHECK(loaded.error().what == "nodes");
}

TEST_CASE("a snapshot whose wish never ends is refused") {
    auto d = allot::Dispatcher<>{};
    support::join_plain(d, 2);
    auto task = support::plain_task(1);
    task.models = {"m"};
    support::ok(d.submit(task, support::at(allot::Duration{7})));
    const auto bytes = allot::snapshot(d, 0);
    const auto end = std::array<std::uint8_t, 8>{0x47, 0x77, 0x1B};  // 30 minutes later
    auto changed = bytes;
    const auto wishes_end = std::find_end(changed.begin() + 20, changed.end() - 64, end.begin(), end.end());
    REQUIRE(wishes_end != changed.end() - 64);
    CHECK(accused(changed).empty());
    std::fill(wishes_end, wishes_end + 8, std::uint8_t{0});
    CHECK(accused(changed) == "nodes");
}

}  // namespace snapshot_test
