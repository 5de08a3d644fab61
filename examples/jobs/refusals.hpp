#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "wire.hpp"

namespace jobs {

/// A message's kind, for the view.
inline auto kind_of(const allot::JobMessage& message) -> std::string {
    constexpr auto names = std::array{"QueueSnapshot",  "OwnershipRequest", "ResultCommitted",    "ResultFound",
                                      "RenewalRequest", "LeaseReturned",    "ContradictionFound", "JobsQuery",
                                      "JobPosted",      "MacrosQuery",      "MacroNews",          "MicroDone",
                                      "JobEnded",       "ClaimIntent",      "VoteRequest",        "Vote"};
    static_assert(names.size() == std::variant_size_v<allot::JobMessage>);
    return names[message.index()];
}

/// The name of an error that no honest member causes; none for the others, which are late messages and the like.
inline auto attack_of(allot::JobError error) -> std::optional<std::string> {
    using E = allot::JobError;
    switch (error) {
        case E::author_wrong:
        case E::author_unproven:
        case E::author_without_right:
        case E::job_duplicate:
        case E::lease_foreign:
        case E::record_invalid:
        case E::result_digest_wrong:
        case E::result_length_wrong:
        case E::result_of_another_micro:
        case E::result_twice:
        case E::result_unleased:
        case E::message_shape_wrong:
        case E::message_too_large:
        case E::reign_too_early:
        case E::job_forgotten:
        case E::too_many_jobs: return std::string{allot::enumerator_name(error)};
        default: return std::nullopt;
    }
}

/// The reason for what the broker's access list should have refused; it must never be counted.
inline const auto access_broken = std::string{"access_list_broken"};

/// What somebody refused: how often, by its reason, and the last one in words.
class Refusals {
public:
    void add(const std::string& what, const std::string& sentence) {
        ++times_[what];
        last_ = sentence + ": " + what;
    }
    [[nodiscard]] auto counts() const -> std::vector<Refused> {
        auto all = std::vector<Refused>{};
        for (const auto& [what, times] : times_) { all.push_back({what, times}); }
        return all;
    }
    [[nodiscard]] auto last() const -> const std::string& { return last_; }

private:
    std::map<std::string, std::uint64_t> times_;
    std::string last_;
};

}  // namespace jobs
