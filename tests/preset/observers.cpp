#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <allot/core/recipients.hpp>

#include "support/catch.hpp"
#include "support/network.hpp"
#include "support/presets.hpp"
#include "support/seed.hpp"

// Whoever sees only what is addressed to it knows which lease its node holds, and until when, and how each of its tasks
// ended.

namespace observers_test {
namespace {

using namespace support;
namespace preset = allot::preset;

/// What nodes and owners were told, and nothing else.
class Mail {
public:
    /// @param forgives A node that leaves and joins again is excluded no longer.
    explicit Mail(bool forgives) : forgives_{forgives} {}

    void hear(const Events& events, allot::TimePoint now) {
        now_ = now;
        for (const auto& event : events) {
            const auto to = allot::recipients(event);
            if (const auto* outage = std::get_if<event::Postponed>(&event)) {
                REQUIRE(to.others == allot::Recipients::Others::everybody);
                for (auto& [node, leases] : held_) {
                    for (auto& [token, lease] : leases) { lease.postpone(outage->by); }
                }
            }
            if (to.node) {
                std::visit([&](const auto& e) { tell_node(*to.node, e); }, event);
            }
            if (to.owner) {
                std::visit([&](const auto& e) { tell_owner(e); }, event);
            }
        }
    }
    /// The time until which a node was told that it is no candidate; the past for a node that may be one.
    [[nodiscard]] auto excluded_until(const allot::NodeId& node) const -> allot::TimePoint {
        const auto found = excluded_.find(node);
        return found == excluded_.end() ? allot::TimePoint{} : found->second;
    }
    /// The number of tasks that did not get their whole fee back.
    [[nodiscard]] auto forfeits() const -> std::uint64_t { return forfeits_; }
    /// The number of tasks that were done and got a part of their fee back.
    [[nodiscard]] auto returns() const -> std::uint64_t { return returns_; }
    /// The tokens and deadlines of the leases that a node was told of.
    [[nodiscard]] auto held_by(const allot::NodeId& node) const -> std::map<std::uint64_t, allot::TimePoint> {
        auto out = std::map<std::uint64_t, allot::TimePoint>{};
        const auto found = held_.find(node);
        if (found == held_.end()) { return out; }
        for (const auto& [token, lease] : found->second) { out.emplace(token, lease.deadline); }
        return out;
    }
    [[nodiscard]] auto ended(const allot::TaskId& task) const -> std::optional<allot::Ending> {
        const auto found = endings_.find(task);
        return found == endings_.end() ? std::nullopt : std::optional{found->second.first};
    }
    [[nodiscard]] auto settled(const allot::TaskId& task) const -> allot::u128 { return endings_.at(task).second; }

private:
    struct Held {
        allot::TimePoint deadline;
        Duration postponed{};

        void postpone(Duration by) {
            if (deadline == allot::never) { return; }
            by = std::min(by, allot::postponed_max - postponed);
            deadline += by;
            postponed += by;
        }
    };

    template <class E>
    void tell_node(const allot::NodeId& node, const E& e) {
        if constexpr (std::is_same_v<E, event::NodeExcluded>) {
            excluded_[node] = e.until;
        } else if constexpr (std::is_same_v<E, event::NodeReadmitted>) {
            excluded_.erase(node);
        } else if constexpr (std::is_same_v<E, event::NodeJoined>) {
            if (forgives_) { excluded_.erase(node); }
        } else if constexpr (std::is_same_v<E, event::TaskStarted>) {
            REQUIRE(excluded_until(node) <= now_);  // also where it left and joined in the meantime
            REQUIRE(held_[node].emplace(e.lease.token, Held{e.lease.deadline}).second);
        } else if constexpr (std::is_same_v<E, event::LeaseRenewed>) {
            held_[node].at(e.lease.token).deadline = e.lease.deadline;
        } else if constexpr (std::is_same_v<E, event::LeaseCompleted>) {
            held_[node].at(e.lease.token).deadline = allot::never;
        } else if constexpr (std::is_same_v<E, event::LeaseEnded>) {
            REQUIRE(held_[node].erase(e.lease.token) == 1);
        }
    }
    template <class E>
    void tell_owner(const E& e) {
        if constexpr (requires { e.forfeited; }) {
            const auto ending = std::is_same_v<E, event::TaskDone>        ? allot::Ending::done
                                : std::is_same_v<E, event::TaskFailed>    ? allot::Ending::failed
                                : std::is_same_v<E, event::TaskCancelled> ? allot::Ending::cancelled
                                : std::is_same_v<E, event::TaskEvicted>   ? allot::Ending::evicted
                                                                          : allot::Ending::timed_out;
            // No statement pays its author: who reports a failure gets nothing, and one node alone forfeits no fee.
            const auto forfeits = e.forfeited != allot::Amount{};
            REQUIRE((e.paid == allot::Amount{} || (ending == allot::Ending::done && !forfeits)));
            REQUIRE((!forfeits || ending == allot::Ending::cancelled || retries_[e.task] >= 2));
            if constexpr (requires { e.expiry; }) { REQUIRE((!forfeits || e.expiry == event::Expiry::execution)); }
            if constexpr (requires { e.reason; }) { REQUIRE_FALSE(forfeits); }
            forfeits_ += forfeits ? 1U : 0U;
            returns_ += ending == allot::Ending::done && e.refunded != allot::Amount{} ? 1U : 0U;
            const auto sum = e.paid.units + e.refunded.units + e.forfeited.units;
            REQUIRE(endings_.emplace(e.task, std::pair{ending, sum}).second);
        } else if constexpr (std::is_same_v<E, event::TaskRetried>) {
            ++retries_[e.task];
        }
    }

    std::map<allot::NodeId, std::map<std::uint64_t, Held>> held_{};
    std::map<allot::NodeId, allot::TimePoint> excluded_{};
    bool forgives_;
    allot::TimePoint now_{};
    std::map<allot::TaskId, std::pair<allot::Ending, allot::u128>> endings_{};
    std::map<allot::TaskId, std::uint32_t> retries_{};
    std::uint64_t forfeits_ = 0;
    std::uint64_t returns_ = 0;
};

template <class Preset>
class Network {
public:
    explicit Network(std::uint64_t seed, allot::Dispatcher<Preset> d = network<Preset>())
        : d_{std::move(d)}, words_{seed} {}

    void act() {
        time_ += Duration{static_cast<std::int64_t>(below(20) == 0 ? below(400'000) : below(3'000))};
        const auto lease = leases_.empty() ? Lease{1, 1} : leases_[below(leases_.size())];
        switch (below(16)) {
            case 0:
            case 1:
                hear(d_.join(with(plain_node(1 + below(12)), [&](NodeSpec& n) { n.stake = 1 + below(500); }), now()));
                break;
            case 2: hear(below(2) == 0 ? d_.leave(1 + below(12), now()) : d_.pause(1 + below(12), now())); break;
            case 3: hear(below(8) == 0 ? d_.slash(1 + below(12), now()) : d_.resume(1 + below(12), now())); break;
            case 4: hear(below(4) == 0 ? d_.cancel(1 + below(tasks_ + 1), now()) : d_.renew(lease, now())); break;
            case 5: hear(d_.fail(lease, static_cast<allot::FailCause>(below(4)), now())); break;
            case 6: below(2) == 0 ? decline(lease) : hear(d_.commit(lease, now())); break;
            case 7:
                hear(below(4) == 0   ? d_.postpone(Duration{static_cast<std::int64_t>(1 + below(30'000'000))}, now())
                     : below(2) == 0 ? d_.advance(now())
                                     : d_.match(now()));
                break;
            case 8:
            case 9:
            case 10: hear(d_.complete(lease, now())); break;
            default: {
                fees_.push_back(1 + below(100));
                const auto spec = with(paying(++tasks_, fees_.back()), [&](TaskSpec& t) {
                    t.gang_size = below(3) == 0 ? 1 + static_cast<std::uint32_t>(below(4)) : 1;
                    if (below(4) == 0) { t.group = allot::GroupId{below(20)}; }
                    t.owner = allot::OwnerId{below(5)};
                });
                hear(d_.submit(spec, now()));
            }
        }
        compare();
    }
    [[nodiscard]] auto endings() const -> std::uint64_t { return endings_; }
    [[nodiscard]] auto rests() const -> std::uint64_t { return rests_; }
    [[nodiscard]] auto forfeits() const -> std::uint64_t { return mail_.forfeits(); }
    [[nodiscard]] auto returns() const -> std::uint64_t { return mail_.returns(); }

private:
    auto below(std::uint64_t n) -> std::uint64_t { return words_() % n; }
    auto now() -> Moment { return at(time_, words_()); }
    /// Rule 7: where nodes rest, a node that declines is no candidate for half of its lease.
    void decline(const Lease& lease) {
        const auto events = d_.decline(lease, now());
        hear(events);
        if constexpr (requires { d_.qos().parts(); }) {
            const auto* node = d_.node(lease.node);
            if (!events.accepted() || node == nullptr || !node->node.present()) { return; }
            const auto length = allot::FixedTermsParameters{}.length(plain_task(1).duration_estimate);
            REQUIRE(mail_.excluded_until(lease.node) >= d_.now() + length / 2);
            ++rests_;
        }
    }
    void hear(const Events& events) {
        mail_.hear(events, d_.now());
        for (const auto& start : all<event::TaskStarted>(events)) { leases_.push_back(start.lease); }
        for (const auto& end : all<event::LeaseEnded>(events)) {
            std::erase_if(leases_, [&](const Lease& lease) { return lease.token == end.lease.token; });
        }
    }
    void compare() {
        for (auto n = 1U; n <= 12; ++n) {
            const auto lease = d_.lease_of(n);
            REQUIRE(mail_.held_by(n) == (lease ? std::map{std::pair{lease->token, lease->deadline}}
                                               : std::map<std::uint64_t, allot::TimePoint>{}));
        }
        endings_ = 0;
        for (auto t = std::uint64_t{1}; t <= tasks_; ++t) {
            if (const auto end = d_.ended(t)) {
                REQUIRE(mail_.ended(t) == end->ending);
                REQUIRE(mail_.settled(t) == fees_[t - 1].units);
            }
            REQUIRE(
                (d_.task(t) == nullptr || !mail_.ended(t)));  // what is in neither table was refused, or is forgotten
            endings_ += mail_.ended(t) ? 1U : 0U;
        }
    }

    allot::Dispatcher<Preset> d_;
    std::vector<allot::Amount> fees_{};
    std::mt19937_64 words_;
    Duration time_{0};
    std::uint64_t tasks_ = 0;
    std::uint64_t endings_ = 0;
    std::uint64_t rests_ = 0;
    std::vector<Lease> leases_{};
    Mail mail_{std::is_same_v<Preset, preset::CrynuxRelay2026>};
};

}  // namespace

TEMPLATE_TEST_CASE("who sees only what is addressed to it knows its leases and how its tasks ended", "[S1][N1]",
                   preset::CrynuxSingle, preset::CrynuxTrio, preset::CrynuxRelay2026, preset::CrynuxContracts1,
                   preset::CrynuxContracts2, preset::Hardened) {
    const auto seed = support::seed();
    auto rests = std::uint64_t{0};
    auto forfeits = std::uint64_t{0};
    for (auto run = std::uint64_t{0}; run < 20; ++run) {
        auto network = Network<TestType>{seed + run};
        for (auto i = 0; i < 300; ++i) { network.act(); }
        CHECK(network.endings() > 20);
        rests += network.rests();
        forfeits += network.forfeits();
    }
    CHECK((rests > 0) == std::is_same_v<TestType, preset::Hardened>);
    CHECK((forfeits > 0) == std::is_same_v<TestType, preset::Hardened>);
}

TEST_CASE("where a fee is more than the price, it is paid, returned and forfeited to the last unit, too", "[S1]") {
    const auto seed = support::seed();
    auto forfeits = std::uint64_t{0};
    auto returns = std::uint64_t{0};
    for (auto run = std::uint64_t{0}; run < 20; ++run) {
        const auto part = allot::Ratio{1, 7};
        auto network = Network<preset::Hardened>{
            seed + run, allot::Dispatcher<preset::Hardened>{preset::Hardened{1'000, 50, {}, 0, {}, {}, part}}};
        for (auto i = 0; i < 300; ++i) { network.act(); }
        forfeits += network.forfeits();
        returns += network.returns();
    }
    CHECK(forfeits > 0);
    CHECK(returns > 0);
}

}  // namespace observers_test
