#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include <allot/job/job_processor.hpp>

#include "job/support/simulated_network.hpp"

// Members that lie. A liar is an honest processor whose messages and deeds are bent, and which says more than it
// should. It can sign as itself only.

namespace job_test {

/// What liars do; how often they did it is counted by these names.
enum class Lie : std::uint8_t {
    forged_statement,
    forged_record,
    record_of_nothing,
    forged_control,
    high_numbers,
    forged_rejection,
    forged_end,
    replay,
    other_queue,
    two_commitments,
    two_controls,
    two_heirs,
    two_records,
    flood,
    made_up_claim,
    two_votes,
    withheld_result,
    hoarded_queue,
    deaf_owner,
    kept_record,
    kept_end,
    wasted_lease,
    copied_result,
    stalled_lease,
    other_name,
    shared_lie,
    usurped_queue,
    changed_progress,
    count
};
constexpr auto lie_count = static_cast<std::size_t>(Lie::count);
constexpr std::array<const char*, lie_count> lie_names{
    "forged statement", "forged record", "record of nothing", "forged control",  "high numbers",    "forged rejection",
    "forged end",       "replay",        "other queue",       "two commitments", "two controls",    "two heirs",
    "two records",      "flood",         "made-up claim",     "two votes",       "withheld result", "hoarded queue",
    "deaf owner",       "kept record",   "kept end",          "wasted lease",    "copied result",   "stalled lease",
    "other name",       "shared lie",    "usurped queue",     "changed progress"};
using LieCounts = std::array<std::uint64_t, lie_count>;

/// Lies in the names of others, for which no outer check may let them pass; and deeds, of which no message is untrue.
constexpr std::array forgeries{Lie::forged_statement, Lie::forged_rejection, Lie::forged_end, Lie::changed_progress};
constexpr std::array deeds{Lie::hoarded_queue, Lie::deaf_owner,    Lie::kept_record, Lie::kept_end,
                           Lie::wasted_lease,  Lie::stalled_lease, Lie::shared_lie};

constexpr auto bit_of(Lie lie) -> std::uint64_t { return std::uint64_t{1} << static_cast<unsigned>(lie); }
constexpr auto all_lies = (std::uint64_t{1} << lie_count) - 1;

inline auto says(const LieCounts& lies) -> std::string {
    auto text = std::string{};
    for (std::size_t i = 0; i < lies.size(); ++i) {
        text += fmt::format("{}{} {}", i == 0 ? "" : ", ", lies[i], lie_names[i]);
    }
    return text;
}

/// What a liar sees of the network, and does in it.
class Liar {
public:
    virtual ~Liar() = default;

    [[nodiscard]] virtual auto self() const -> std::uint32_t = 0;
    [[nodiscard]] virtual auto plan() const -> const allot::JobPlan& = 0;
    [[nodiscard]] virtual auto processor() const -> const JobProcessor& = 0;
    [[nodiscard]] virtual auto local() const -> TimePoint = 0;
    [[nodiscard]] virtual auto below(std::uint64_t n) -> std::uint64_t = 0;
    /// A node that does not lie.
    [[nodiscard]] virtual auto victim() -> std::uint32_t = 0;
    [[nodiscard]] virtual auto options() const -> const Options& = 0;
    /// Messages with a queue's control that it heard.
    [[nodiscard]] virtual auto heard() const -> const std::deque<Network::Letter>& = 0;
    virtual void fired(Lie lie) = 0;
    /// Says something to all, or to one, signed where the liar is the author.
    virtual void tell(const allot::JobSend& send) = 0;
    virtual void tell_one(std::uint32_t to, const allot::JobSend& send, bool is_true) = 0;
    /// Asks the store for a claim.
    virtual void claim(const Hash256& claim, const allot::ClaimBid& bid) = 0;
    /// Makes its own processor hear a message of its own.
    virtual void believe(const allot::JobMessage& message) = 0;

    [[nodiscard]] auto name() const -> allot::NodeId { return node_id(self()); }
    [[nodiscard]] auto wallet() const -> allot::WalletId { return wallet_id(self()); }
    [[nodiscard]] auto noise() -> Hash256 {
        return allot::RecordHasher{"noise"}.word(below(~std::uint64_t{0})).finish();
    }
    [[nodiscard]] auto a_macro() -> std::uint32_t {
        return static_cast<std::uint32_t>(below(plan().slicing().macro_count));
    }
    [[nodiscard]] auto a_micro() -> std::uint32_t {
        return static_cast<std::uint32_t>(below(plan().slicing().items()));
    }
    /// Its replica of a queue; null if it did not join it, or does not know of it.
    [[nodiscard]] auto queue(std::uint32_t macro) const -> const allot::MicroQueueReplica* {
        const auto* part = processor().part(plan().job());
        if (part == nullptr) { return nullptr; }
        const auto at = part->replicas().find(macro);
        return at == part->replicas().end() || !at->second.state().known() ? nullptr : &at->second;
    }
    [[nodiscard]] auto owns(std::uint32_t macro) const -> bool {
        const auto* replica = queue(macro);
        return replica != nullptr && replica->state().owns();
    }
    void tell_queue(std::uint32_t macro, allot::JobMessage message) {
        tell({plan().macro(macro).channel(), std::move(message)});
    }
    void tell_job(allot::JobMessage message) { tell({allot::job_channel(plan().job()), std::move(message)}); }
    /// Says the truth to some members and another thing to the rest. The contract is the member after the nodes.
    void tell_both(const allot::JobSend& one, const allot::JobSend& other) {
        for (std::uint32_t to = 0; to <= options().nodes; ++to) {
            if (to != self()) { tell_one(to, to % 2 == 0 ? one : other, to % 2 == 0); }
        }
    }
    [[nodiscard]] auto snapshot(std::uint32_t macro) const -> allot::job_message::QueueSnapshot {
        return {plan().job(), macro, false, {}, {}, {}, {}, {}, {}};
    }
};

/// One way to lie. By itself it changes nothing.
class Lying {
public:
    virtual ~Lying() = default;

    /// Says something of its own accord, about once a second.
    virtual void act(Liar& /*me*/) {}
    /// Changes a message that the processor sends; false if it is not to be sent, or was sent otherwise.
    virtual auto bend(Liar& /*me*/, allot::JobSend& /*send*/) -> bool { return true; }
    /// Whether the processor hears a message.
    virtual auto hears(Liar& /*me*/, const Network::Letter& /*letter*/) -> bool { return true; }
    virtual auto heeds(Liar& /*me*/, const allot::JobEvent& /*event*/) -> bool { return true; }
    virtual auto writes(Liar& /*me*/) -> bool { return true; }
    virtual auto finishes(Liar& /*me*/) -> bool { return true; }
    virtual auto time_for(Liar& /*me*/, std::int64_t honest) -> std::int64_t { return honest; }
    virtual void find(Liar& /*me*/, allot::MicroKey /*key*/, std::vector<Hash256>& /*hashes*/) {}
};

}  // namespace job_test
