// replica_log <entries>: a random log of replicas on stdout, in the form that examples/service/follower reads.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include <allot/replica.hpp>

#include "replica/support.hpp"
#include "support/chaos.hpp"
#include "support/seed.hpp"

namespace {

using namespace replica_support;

constexpr auto links = std::uint64_t{100'000};

/// A log whose requests, ticks and registrations are mostly such that something happens.
class AnyLog {
public:
    AnyLog() {
        auto p = allot::ReplicaParameters{};
        p.attest_every = 8;
        p.state_every = 64;
        p.sessions_max = 40;
        p.sessions_per_client_max = 8;
        p.session_ttl = Duration{600'000};
        append(body::Parameters{1, p});
        append(body::ChainHead{1, chain_.head()});
    }

    void append_any() {
        switch (chaos_.below(12)) {
            case 0: append(body::Register{session(), allot::ClientId{chaos_.below(9) + 1}, {}}); break;
            case 1:
            case 2:
            case 3: {
                const auto round = replica_.chain(0)->round + 1;
                if (round <= links) { append(body::Tick{round, chain_.link(round)}); }
                break;
            }
            case 4: append(body::Operator<Command>{replica_.operator_seq() + 1, commands()}); break;
            default: {
                const auto id = session();
                const auto* last = replica_.last_of(id);
                const auto seq = last == nullptr ? 1 : last->seq + (chaos_.below(8) > 0 ? 1 : chaos_.below(3));
                append(body::Requests<Command>{{Request{id, seq, commands(), {}}}});
            }
        }
    }

private:
    auto session() -> SessionId { return SessionId{chaos_.below(60) + 1}; }
    auto commands() -> std::vector<Command> {
        auto all = std::vector<Command>{};
        for (auto n = chaos_.below(6); n > 0; --n) { all.push_back(chaos_.command(replica_.dispatcher())); }
        return all;
    }

    template <class Body>
    void append(Body body) {
        const auto time =
            replica_.now() + Duration{static_cast<std::int64_t>(chaos_.below(chaos_.below(30) == 0 ? 90'000 : 900))};
        const auto bytes = allot::encode_entry(Entry{0, ++nonce_, time, std::move(body)});
        position_ += 1 + chaos_.below(3);
        auto framed = Bytes{};
        auto writer = allot::ByteWriter{framed};
        writer.integer(position_);
        writer.integer(static_cast<std::uint32_t>(bytes.size()));
        writer.bytes(bytes);
        std::fwrite(framed.data(), 1, framed.size(), stdout);
        auto sink = Sink{};
        if (replica_.apply(position_, bytes, sink)) { std::abort(); }
        if (sink.attested.empty()) { return; }
        append(body::Attest{sink.attested.front()});
    }

    support::Chaos<D> chaos_{support::seed()};
    R replica_{D{}, 0};
    allot::BeaconChain chain_{allot::Hash256{7}, links};
    std::uint64_t position_ = 0;
    std::uint64_t nonce_ = 0;
};

}  // namespace

auto main(int argc, char** argv) -> int {
    auto log = AnyLog{};
    for (auto left = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000; left > 0; --left) { log.append_any(); }
}
