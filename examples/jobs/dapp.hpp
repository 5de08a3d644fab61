#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker.hpp"
#include "common.hpp"
#include "wire.hpp"

namespace jobs {

/// The poster of the job: it holds the secret, deals the blocks, and plays the contract that pays. It also monitors.
class Dapp {
public:
    Dapp(const allot::JobSpec& spec, const std::string& file, int port);

    /// Receives and answers messages for up to `wait_ms` ms.
    void poll(int wait_ms);

    /// The state of one MacroJob, from the last snapshot received.
    struct Seen {
        std::optional<allot::QueueControl> control{};
        allot::TimePoint heard{};
        bool ended = false;
    };
    [[nodiscard]] auto seen() const -> const std::vector<Seen>& { return seen_; }
    [[nodiscard]] auto plan() const -> const allot::JobPlan& { return plan_; }
    /// Returns the number of complete MicroJobs and of all.
    [[nodiscard]] auto progress() const -> std::pair<std::uint64_t, std::uint64_t>;
    [[nodiscard]] auto holds(const std::string& name) const -> bool;
    [[nodiscard]] auto culprits() const -> const std::set<std::string>& { return culprits_; }
    [[nodiscard]] auto ended() const -> const std::optional<allot::FinalRecord>& { return ended_; }
    [[nodiscard]] auto paid() const -> const std::map<allot::WalletId, allot::Amount>& { return paid_; }

    /// Returns the faults of the outcome; empty if it is right.
    [[nodiscard]] auto faults() const -> std::vector<std::string>;

    static constexpr std::uint64_t escrow = 10'000;

private:
    void hear(const std::string& channel, const std::string& text);
    void deal(const std::string& text);
    void settle(const EscrowAsk& ask);
    [[nodiscard]] auto judged(const std::vector<allot::MacroRecord>& records) const
        -> std::optional<std::vector<allot::Rejection>>;
    void pay(const std::vector<allot::MacroRecord>& records);

    std::string file_;
    Broker broker_;
    allot::JobPlan plan_;
    allot::SecretPlan secret_;
    std::vector<Seen> seen_;
    std::map<allot::Hash256, allot::ResultRecord> store_;
    std::set<std::string> culprits_;
    std::map<allot::Hash256, allot::Rejection> rejected_;
    std::optional<allot::FinalRecord> settled_{};
    std::optional<allot::FinalRecord> ended_{};
    std::vector<allot::MacroRecord> paid_for_;
    std::map<allot::WalletId, allot::Amount> paid_;
    std::map<allot::MicroKey, int> payments_;
    allot::TimePoint post_at_{};
};

}  // namespace jobs
