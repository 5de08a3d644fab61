#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <allot/allot.hpp>
#include <allot/replica.hpp>

#include "fuzz/support/target.hpp"
#include "support/any_value.hpp"

namespace fuzz_entry {

// An input is entries of a replicated log, the length before each in two bytes. They follow a short log, in which
// replicas, chains and sessions have begun.

namespace {

using D = allot::Dispatcher<>;
using R = allot::Replica<D>;
using Entry = R::Entry;
using Request = R::Request;
namespace body = allot::entry;
namespace command = allot::command;

const auto links = allot::BeaconChain{allot::Hash256{7}, 64};

auto at(std::int64_t ms) -> allot::TimePoint { return allot::TimePoint{allot::Duration{ms}}; }

auto node(int id) -> allot::NodeSpec {
    auto spec = allot::NodeSpec{.id = id};
    spec.gpu = "RTX 4090";
    spec.vram = allot::Gibibytes{24};
    return spec;
}

auto task(int id) -> allot::TaskSpec {
    auto spec = allot::TaskSpec{.id = id};
    spec.vram_min = allot::Gibibytes{8};
    spec.duration_estimate = allot::Duration{100'000};
    return spec;
}

auto begun() -> const R& {
    static const auto made = [] {
        auto replica = R{D{}, 0};
        auto p = allot::ReplicaParameters{};
        p.attest_every = p.state_every = 2;
        p.sessions_max = 4;
        p.sessions_per_client_max = 2;
        auto joins = std::vector<R::Command>{};
        for (auto i = 1; i <= 3; ++i) { joins.emplace_back(command::Join{node(i)}); }
        (void)replica.apply_decoded(1, {0, 1, at(0), body::Parameters{1, p}});
        (void)replica.apply_decoded(2, {0, 2, at(0), body::ChainHead{1, links.head()}});
        (void)replica.apply_decoded(3, {0, 3, at(1'000'000), body::Tick{1, links.link(1)}});
        (void)replica.apply_decoded(4, {0, 4, at(1'000'000), body::Operator<R::Command>{2, std::move(joins)}});
        (void)replica.apply_decoded(5, {0, 5, at(1'000'000), body::Register{"s", "client", {}}});
        return replica;
    }();
    return made;
}

auto target(std::span<const std::uint8_t> input) -> bool {
    auto in = fuzz::Numbers{input};
    auto replica = begun();
    auto position = replica.position();
    auto sessions_max = replica.parameters().sessions_max;
    while (in.left() > 0) {
        const auto bytes = in.bytes(in.below(65'536));
        const auto entry = allot::decode_entry<R::Command>(bytes);
        if (!entry) {
            fuzz::ensure(entry.error().offset <= bytes.size(), "a fault lies within the bytes");
            return false;
        }
        const auto again = allot::encode_entry(*entry);
        fuzz::ensure(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()), "an entry has one form");
        const auto time = replica.now();
        const auto effects = replica.apply_decoded(++position, *entry);
        fuzz::ensure(replica.now() >= time && replica.now() <= allot::time_point_max, "time grows, within its range");
        fuzz::ensure(!replica.dispatcher().next_deadline() || *replica.dispatcher().next_deadline() > replica.now(),
                     "nothing due is left");
        sessions_max = std::max(sessions_max, replica.parameters().sessions_max);
        fuzz::ensure(replica.clients().size() <= sessions_max, "sessions are bounded");
        fuzz::ensure(replica.parameters().fault() == nullptr, "parameters are sound");
        if (effects.fault) { break; }
    }
    const auto own = replica.own_bytes();
    const auto restored = R::restore(replica.dispatcher(), 0, own);
    fuzz::ensure(restored && *restored == replica && restored->own_bytes() == own, "any state is restored");
    return true;
}

auto seeds() -> std::vector<fuzz::Bytes> {
    auto any = support::AnyValue{2026};
    auto all = std::vector<fuzz::Bytes>{};
    const auto add = [&](const std::vector<Entry>& entries) {
        auto& input = all.emplace_back();
        for (const auto& entry : entries) {
            const auto bytes = allot::encode_entry(entry);
            input.push_back(static_cast<std::uint8_t>(bytes.size() >> 8U));
            input.push_back(static_cast<std::uint8_t>(bytes.size()));
            input.insert(input.end(), bytes.begin(), bytes.end());
        }
    };
    const auto now = at(1'000'000);
    const auto submit = Request{"s", 6, {command::Submit{task(1)}}, {}};
    add({{0, 1, now, body::Requests<R::Command>{{submit, submit}}},
         {0, 2, at(1'000'100), body::Tick{2, links.link(2)}}});
    add({{0, 1, at(90'000'000), body::Tick{2, links.link(2)}}, {0, 1, now, body::Register{"t", "client", now}}});
    add({{1, 1, now, body::Attest{{1, 4, {}, {}}}}, {2, 1, now, body::Attest{{2, 4, {}, {}}}}});
    add({{0, 1, now, body::Parameters{3, {}}}, {0, 1, now, body::ChainHead{2, links.head()}}});
    add({{0, 1, now, body::Operator<R::Command>{3, {command::Postpone{allot::Duration{5}}}}}});
    for (auto i = 0; i < 8; ++i) {
        add({{0, 1, now,
              body::Requests<R::Command>{{Request{"s", 6, {any.of<R::Command>(), any.of<R::Command>()}, {}}}}}});
    }
    return all;
}

}  // namespace

ALLOT_FUZZ(entry, "any bytes are entries that a replica applies, or have a typed fault")

}  // namespace fuzz_entry
