#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <allot/allot.hpp>
#include <allot/replica.hpp>

#include "support/network.hpp"

// One log in memory, and short ways to write its entries.
namespace replica_support {

using D = allot::Dispatcher<>;
using R = allot::Replica<D>;
using Command = R::Command;
using Entry = R::Entry;
using Request = R::Request;
using Bytes = std::vector<std::uint8_t>;
using allot::Duration;
using allot::SessionId;
using allot::TimePoint;
using allot::Verdict;
namespace body = allot::entry;

inline auto at(std::int64_t ms) -> TimePoint { return TimePoint{Duration{ms}}; }

/// All effects, in order.
struct Sink {
    std::vector<allot::Reply> replies{};
    std::vector<std::pair<allot::EffectId, allot::Event>> events{};
    std::vector<allot::Attestation> attested{};
    std::vector<allot::Divergence> suspects{};

    void reply(const allot::Reply& r) { replies.push_back(r); }
    void event(allot::EffectId id, const allot::Event& e) { events.emplace_back(id, e); }
    void attest(const allot::Attestation& a) { attested.push_back(a); }
    void suspect(const allot::Divergence& d) { suspects.push_back(d); }

    template <class E>
    [[nodiscard]] auto count() const -> int {
        auto n = 0;
        for (const auto& [id, e] : events) { n += std::holds_alternative<E>(e) ? 1 : 0; }
        return n;
    }
};

/// A replica and the entries that it applied, at positions 10, 20, 30 and so on.
struct Log {
    R replica{D{}, 0};
    Sink sink{};
    std::vector<Bytes> entries{};
    allot::BeaconChain links{allot::Hash256{7}, 2'000};

    auto append(const Bytes& bytes) -> std::optional<allot::ReplicaFault> {
        entries.push_back(bytes);
        sink = {};
        return replica.apply(10 * entries.size(), bytes, sink);
    }
    template <class Body>
    auto append(TimePoint time, Body body, allot::ReplicaId proposer = 0) -> std::optional<allot::ReplicaFault> {
        return append(allot::encode_entry(Entry{proposer, entries.size(), time, std::move(body)}));
    }
    void parameters(const allot::ReplicaParameters& p) {
        (void)append(replica.now(), body::Parameters{replica.operator_seq() + 1, p});
    }
    void head() { (void)append(replica.now(), body::ChainHead{1, links.head()}); }
    /// A tick of leader 0 with its next link.
    void tick(TimePoint time) {
        const auto* chain = replica.chain(0);
        const auto round = chain == nullptr ? 1 : chain->round + 1;
        (void)append(time, body::Tick{round, links.link(round)});
    }
    auto open(SessionId session, allot::ClientId client = "client") -> std::uint64_t {
        (void)append(replica.now(), body::Register{session, client, {}});
        return sink.replies.at(0).seq;
    }
    auto request(SessionId session, std::uint64_t seq, std::vector<Command> commands,
                 std::optional<TimePoint> time = {}) -> allot::Reply {
        (void)append(time.value_or(replica.now()),
                     body::Requests<Command>{{Request{session, seq, std::move(commands), {}}}});
        return sink.replies.at(0);
    }
};

/// A log with the head of a chain, a first tick at 1,000,000 ms and the session "s" of the client "client".
struct BegunLog : Log {
    std::uint64_t seq = 0;

    BegunLog() {
        head();
        tick(at(1'000'000));
        seq = open("s");
    }
    auto next(std::vector<Command> commands, std::optional<TimePoint> time = {}) -> allot::Reply {
        return request("s", ++seq, std::move(commands), time);
    }
};

inline auto join(int id) -> Command { return allot::command::Join{support::plain_node(id)}; }
inline auto submit(int id) -> Command { return allot::command::Submit{support::plain_task(id)}; }

}  // namespace replica_support
