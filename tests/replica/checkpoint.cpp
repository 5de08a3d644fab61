#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <allot/journal/snapshot.hpp>
#include <allot/replica.hpp>

#include "replica/support.hpp"
#include "support/catch.hpp"
#include "support/seed.hpp"

// A checkpoint is a snapshot of the dispatcher and the bytes of all that is replicated next to it.
namespace checkpoint_test {
namespace {

using namespace std::chrono_literals;
using namespace replica_support;
namespace command = allot::command;

// A log with something in every part of the state.
auto lived() -> BegunLog {
    auto log = BegunLog{};
    auto p = allot::ReplicaParameters{};
    p.attest_every = 3;
    p.state_every = 6;
    log.parameters(p);
    for (auto i = 1; i < 12; ++i) {
        (void)log.next({join(i), submit(i), join(i)});
        if (!log.sink.attested.empty()) { (void)log.append(log.replica.now(), body::Attest{log.sink.attested.at(0)}); }
        log.tick(log.replica.now() + 1s);
    }
    (void)log.append(log.replica.now(), body::ChainHead{2, allot::Hash256{9}});
    (void)log.append(log.replica.now(), body::Operator<Command>{2, {command::Postpone{1s}, join(1)}});
    (void)log.open("t", "other");
    return log;
}

auto loaded(const R& replica) -> R {
    auto copy = allot::load_snapshot(allot::snapshot(replica.dispatcher(), replica.position()), D{});
    REQUIRE(copy);
    auto again = R::restore(std::move(copy->dispatcher), replica.id(), replica.own_bytes());
    REQUIRE(again);
    return *std::move(again);
}

}  // namespace

TEST_CASE("a replica from a checkpoint equals the one that wrote it, and goes on equally") {
    auto log = lived();
    auto again = loaded(log.replica);
    CHECK(again == log.replica);
    CHECK(again.own_bytes() == log.replica.own_bytes());
    CHECK(again.root() == log.replica.root());
    CHECK(again.position() == log.replica.position());
    CHECK(again.last_of("s")->answers == log.replica.last_of("s")->answers);
    for (auto i = 20; i < 30; ++i) {
        (void)log.next({join(i), submit(i)});
        auto sink = Sink{};
        CHECK_FALSE(again.apply(log.replica.position(), log.entries.back(), sink));
        CHECK(sink.replies == log.sink.replies);
        CHECK(sink.attested == log.sink.attested);
        log.tick(log.replica.now() + 1s);
        CHECK_FALSE(again.apply(log.replica.position(), log.entries.back(), sink));
    }
    CHECK(again == log.replica);
}

TEST_CASE("a replica restored from any of its states applies the rest of the log, also what it had applied before") {
    const auto log = lived();
    auto replica = R{D{}, 0};
    for (std::size_t i = 0; i <= log.entries.size(); ++i) {
        auto again = R::restore(replica.dispatcher(), 0, replica.own_bytes());
        REQUIRE(again);
        for (auto j = i > 3 ? i - 3 : 0; j < log.entries.size(); ++j) {
            auto sink = Sink{};
            REQUIRE_FALSE(again->apply(10 * (j + 1), log.entries[j], sink));
            if (j < i) { REQUIRE(sink.replies.empty()); }
        }
        REQUIRE(*again == log.replica);
        if (i < log.entries.size()) {
            auto sink = Sink{};
            (void)replica.apply(10 * (i + 1), log.entries[i], sink);
        }
    }
}

TEST_CASE("bytes that no replica wrote are refused with a fault, or are the bytes of the state that they give") {
    auto random = std::mt19937_64{support::seed()};
    const auto log = lived();
    const auto bytes = log.replica.own_bytes();
    const auto read = [&](const Bytes& tried) { return R::restore(log.replica.dispatcher(), 0, tried); };
    auto taken = 0;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        auto flipped = bytes;
        flipped[at] ^= static_cast<std::uint8_t>(1U << (random() % 8));
        if (const auto other = read(flipped)) {
            ++taken;
            REQUIRE(other->own_bytes() == flipped);
            REQUIRE(other->parameters().fault() == nullptr);
            auto copy = *other;
            auto sink = Sink{};
            (void)copy.apply(copy.position() + 1,
                             allot::encode_entry(Entry{0, 1, TimePoint{Duration{2'000'000}}, body::Tick{}}), sink);
        }
        REQUIRE_FALSE(read({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at)}));
    }
    CHECK(taken > 100);
    auto newer = bytes;
    ++newer[0];
    CHECK(read(newer).error().error == allot::DecodeError::version_unknown);
    auto longer = bytes;
    longer.push_back(0);
    CHECK(read(longer).error().error == allot::DecodeError::trailing_bytes);
    auto later = D{};
    (void)later.advance({TimePoint{Duration{1} + log.replica.now().time_since_epoch()}});
    CHECK(R::restore(later, 0, bytes).error().error == allot::DecodeError::out_of_range);
}

TEST_CASE("a checkpoint whose log time lies beyond the latest instant is refused; a head may wait until then") {
    const auto log = lived();
    const auto bytes = log.replica.own_bytes();
    auto in = allot::ByteReader{bytes};
    auto version = std::uint32_t{};
    auto own = allot::detail::ReplicaState{};
    allot::Decoder{in}.get(version);
    allot::Decoder{in}.get(own);
    REQUIRE_FALSE(in.fault());
    const auto rest = in.rest();
    const auto taken = [&](const auto& change) {
        auto state = own;
        change(state);
        auto forged = Bytes{};
        auto out = allot::Encoder{forged};
        out.put(version);
        out.put(state);
        forged.insert(forged.end(), rest.begin(), rest.end());
        return R::restore(log.replica.dispatcher(), 0, forged);
    };
    constexpr auto latest = allot::time_point_max;
    CHECK_FALSE(taken([&](auto& state) { state.now = latest + 1ms; }));
    CHECK_FALSE(taken([&](auto& state) { state.last_tick = state.now = latest + 1ms; }));
    CHECK(taken([&](auto& state) { state.chains.at(0).next_from = latest + log.replica.parameters().head_delay; }));
    auto last = taken([&](auto& state) { state.last_tick = state.now = latest; });
    REQUIRE(last);
    auto sink = Sink{};
    const auto entry = allot::encode_entry(Entry{0, 99, latest, body::Requests<Command>{}});
    CHECK_FALSE(last->apply(last->position() + 1, entry, sink));
    CHECK(last->now() == latest);
    const auto due = last->dispatcher().next_deadline();
    CHECK((!due || *due > latest));  // all that was due is settled
}

}  // namespace checkpoint_test
