#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "contract.hpp"
#include "post.hpp"

namespace jobs {

/// The poster of the jobs, on the broker: it passes what it hears to the contract of the job concerned, and collects
/// what the members report.
class Dapp {
public:
    Dapp(std::vector<Contract>& contracts, const std::string& password, int port, const SigningKey& key,
         const Keyring& ring);

    /// Receives and answers messages for up to `wait_ms` ms.
    void poll(int wait_ms);

    [[nodiscard]] auto contracts() const -> const std::vector<Contract>& { return contracts_; }
    [[nodiscard]] auto reports() const -> const std::map<std::string, Report>& { return reports_; }
    [[nodiscard]] auto holds(const std::string& name) const -> bool;
    /// True if a member knows the end of each job, as its contract settled it.
    [[nodiscard]] auto knows_all_ends(const std::string& name) const -> bool;
    /// True if a member repeated the proof of each job, and found it right.
    [[nodiscard]] auto has_repeated_proofs(const std::string& name) const -> bool;
    [[nodiscard]] auto reconnects() const -> int { return post_.reconnects(); }

    /// How often something was refused, here and by the members `whose` reports count; by reason.
    [[nodiscard]] auto refused(const std::vector<std::string>& whose) const -> std::map<std::string, std::uint64_t>;
    /// The last refusals in words, the newest last.
    [[nodiscard]] auto last_refusals() const -> const std::deque<std::string>& { return last_; }

private:
    void hear(const std::string& sender, const std::string& channel, const std::string& text);
    void answer_deal(const std::string& sender, const std::string& text);
    void answer_escrow(const std::string& sender, const std::string& text);
    void hear_report(const std::string& sender, const std::string& text);
    void refuse(const std::string& what, const std::string& sentence);
    void show(const std::string& sentence);
    [[nodiscard]] auto contract(const allot::JobId& job) -> Contract*;

    std::vector<Contract>& contracts_;
    Post post_;
    std::map<std::string, Report> reports_;
    std::map<std::string, std::map<std::string, std::uint64_t>> earlier_;  // what a member refused before it was killed
    std::map<std::string, std::uint64_t> refused_;
    std::deque<std::string> last_;
    allot::TimePoint tell_at_{};
};

}  // namespace jobs
