#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <allot/replica/ordered_log.hpp>

namespace support {

/// An ordered log in memory. Positions have holes. `breach` plants a defect that the laws must find.
class MemoryOrderedLog {
public:
    enum class Breach {
        none,
        doubled,        ///< A proposal is appended again.
        out_of_order,   ///< Positions go back.
        skips,          ///< A page lacks an entry.
        resumes_early,  ///< A page begins with the entry at `after`.
        resumes_late,   ///< A page begins one entry too late.
        silent,         ///< Dropped entries are passed over.
        changed,        ///< Bytes change.
        stops_short,    ///< The last entry is never read.
        page_too_long,  ///< A page has more entries than asked for.
    };

    explicit MemoryOrderedLog(Breach breach = Breach::none) : breach_{breach} {}

    auto append(allot::ReplicaId proposer, std::uint64_t nonce, std::span<const std::uint8_t> bytes)
        -> allot::Result<std::uint64_t, allot::OrderedLogError> {
        const auto id = std::pair{proposer, nonce};
        const auto known = known_.find(id);
        if (known != known_.end() && breach_ != Breach::doubled) { return known->second; }
        last_ += breach_ == Breach::out_of_order && last_ > 40 ? 0 : 1 + ++appended_ % 3;
        known_[id] = last_;
        entries_.push_back({last_, {bytes.begin(), bytes.end()}});
        if (breach_ == Breach::changed && appended_ == 50) { entries_.back().bytes[0] ^= 1U; }
        if (appended_ % 7 == 0) {
            return allot::FailureOf<allot::OrderedLogError>{allot::OrderedLogError::unavailable};
        }
        return last_;
    }

    [[nodiscard]] auto read(std::uint64_t after, std::size_t count_max) const
        -> allot::Result<std::vector<allot::LoggedEntry>, allot::OrderedLogError> {
        if (after < compacted_ && breach_ != Breach::silent) {
            return allot::FailureOf<allot::OrderedLogError>{allot::OrderedLogError::compacted};
        }
        auto page = std::vector<allot::LoggedEntry>{};
        auto at = std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) {
            return breach_ == Breach::resumes_early && after > 30 ? e.position >= after : e.position > after;
        });
        if (breach_ == Breach::resumes_late && at != entries_.end()) { ++at; }
        const auto end = breach_ == Breach::stops_short && at != entries_.end() ? entries_.end() - 1 : entries_.end();
        const auto most = count_max + (breach_ == Breach::page_too_long ? 1U : 0U);
        for (; at != end && page.size() < most; ++at) {
            if (breach_ == Breach::skips && at->position % 31 == 0) { continue; }
            page.push_back(*at);
        }
        return page;
    }

    auto compact(std::uint64_t through) -> std::optional<allot::OrderedLogError> {
        compacted_ = std::max(compacted_, through);
        entries_.erase(entries_.begin(), std::find_if(entries_.begin(), entries_.end(),
                                                      [&](const auto& e) { return e.position > through; }));
        return std::nullopt;
    }

    [[nodiscard]] auto compacted() const -> std::uint64_t { return compacted_; }

private:
    Breach breach_;
    std::uint64_t last_ = 0;
    std::uint64_t appended_ = 0;
    std::uint64_t compacted_ = 0;
    std::map<std::pair<allot::ReplicaId, std::uint64_t>, std::uint64_t> known_{};
    std::vector<allot::LoggedEntry> entries_{};
};

}  // namespace support
