#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common.hpp"
#include "keys.hpp"
#include "proof.hpp"
#include "wire.hpp"

namespace jobs {

/// One job as its poster sees it: it holds the secret, deals the blocks, checks the results, and pays.
class Contract {
public:
    /// `samples` is the number of blocks of each MacroJob that it computes again before it pays, beside those on which
    /// workers and verifiers disagree.
    Contract(const allot::JobSpec& spec, std::uint32_t samples, const SigningKey& key, const Keyring& ring);

    static constexpr std::uint64_t deposit = 10'000;

    // ---- what it hears, of senders that are proven; the text says why something is refused, if it is
    // --------------------

    using Refusal = std::optional<std::string>;

    /// Receives a message of the job's channels.
    auto hear(const allot::NodeId& sender, const allot::JobMessage& message) -> Refusal;
    /// Receives a result for the store.
    auto keep(const allot::ResultRecord& record) -> Refusal;
    /// Answers a request for the blocks of a MicroJob. Only who holds it by the newest control that it has proven gets
    /// them (audit K7): blocks tell which MicroJob verifies which.
    auto deal(const allot::NodeId& sender, allot::MicroKey key, std::vector<std::uint64_t>& blocks) -> Refusal;
    /// Answers a request to the escrow; without an answer and a refusal it lacks a result, and will be asked again.
    auto settle(const allot::NodeId& sender, const EscrowAsk& ask, std::optional<allot::Settlement>& answer) -> Refusal;

    /// All that it decided by, with the seed, once the job has ended.
    [[nodiscard]] auto proof() const -> const std::optional<Proof>& { return proof_; }
    /// Returns what it tells all members again and again: the plan, the rejections, the end.
    [[nodiscard]] auto notices() const -> std::vector<allot::JobMessage>;

    // ---- what it knows
    // -------------------------------------------------------------------------------------------------

    /// The state of one MacroJob, from the last control received.
    struct Seen {
        std::optional<allot::QueueControl> control{};
        allot::TimePoint heard{};
        bool ended = false;
    };
    [[nodiscard]] auto seen() const -> const std::vector<Seen>& { return seen_; }
    [[nodiscard]] auto plan() const -> const allot::JobPlan& { return posted_.plan; }
    [[nodiscard]] auto secret(std::uint32_t macro) const -> allot::MacroSecret { return secret_.macro(macro); }
    [[nodiscard]] auto truth(std::uint64_t block) const -> allot::Hash256 {
        return block_hash(file_, block, block_count(plan().slicing()));
    }
    [[nodiscard]] auto result(const allot::Hash256& digest) const -> const allot::ResultRecord* {
        const auto at = store_.find(digest);
        return at == store_.end() ? nullptr : &at->second;
    }
    /// Returns the number of complete MicroJobs and of all.
    [[nodiscard]] auto progress() const -> std::pair<std::uint64_t, std::uint64_t>;
    [[nodiscard]] auto holds(const std::string& name) const -> bool;
    [[nodiscard]] auto samples() const -> std::uint32_t { return samples_; }
    /// Names of the members whose blocks differ from those computed again.
    [[nodiscard]] auto culprits() const -> const std::set<std::string>& { return culprits_; }
    [[nodiscard]] auto settled() const -> const std::optional<allot::FinalRecord>& { return settled_; }
    /// A record that it judged, and the blocks that it computed again for that.
    struct Judged {
        allot::MacroRecord record;
        std::map<std::uint64_t, allot::Hash256> recomputed;
    };
    /// All records that it judged, also those that it did not pay; by digest.
    [[nodiscard]] auto judged_records() const -> const std::map<allot::Hash256, Judged>& { return judged_; }
    [[nodiscard]] auto paid_records() const -> const std::vector<allot::MacroRecord>& { return paid_for_; }

    /// The escrow's book.
    struct Book {
        std::map<allot::WalletId, allot::Amount> paid;
        allot::Amount refund{};
        std::map<allot::MicroKey, int> payments;  ///< Number of payments for each MicroJob.
    };
    [[nodiscard]] auto book() const -> const Book& { return book_; }

private:
    [[nodiscard]] auto fault_of_ask(const allot::NodeId& sender, const EscrowAsk& ask) const -> Refusal;
    [[nodiscard]] auto judged(const std::vector<allot::MacroRecord>& records)
        -> std::optional<std::vector<allot::Rejection>>;
    [[nodiscard]] auto wrong_in(const allot::MacroRecord& record,
                                const std::vector<const allot::ResultRecord*>& results) -> std::set<std::uint32_t>;
    [[nodiscard]] auto was_dealt(const allot::ResultRecord& result) const -> bool;
    void pay(std::vector<allot::MacroRecord> records);
    [[nodiscard]] auto proven() const -> Proof;

    const SigningKey& key_;
    const Keyring& ring_;
    std::uint32_t samples_;
    std::string file_;
    allot::Entropy seed_;
    allot::job_message::JobPosted posted_;
    allot::SecretPlan secret_;
    std::vector<Seen> seen_;
    std::map<allot::MicroKey, std::set<allot::NodeId>> dealt_;  // to whom
    std::map<allot::Hash256, allot::ResultRecord> store_;
    std::map<allot::Hash256, Judged> judged_;
    std::set<std::string> culprits_;
    std::map<allot::Hash256, allot::Rejection> rejected_;
    std::optional<allot::FinalRecord> settled_{};
    std::map<allot::MicroKey, allot::Hash256> verified_;  // the first of each MicroJob
    std::vector<allot::MacroRecord> paid_for_;
    Book book_;
    std::optional<Proof> proof_{};
};

}  // namespace jobs
