#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <allot/laws/sample.hpp>
#include <allot/replica/ordered_log.hpp>

namespace allot { inline namespace v0 { namespace laws {

namespace detail {

/// The entries that a log should hold, and the laws of each call.
template <class Log>
class OrderedLogModel {
public:
    OrderedLogModel(Log& log, Sampler& sampler) : log_{log}, sampler_{sampler} {}

    /// Appends a new proposal, or one that was appended before.
    [[nodiscard]] auto append() -> Finding {
        const auto again = !held_.empty() && sampler_.once_in(4);
        const auto nonce = again ? sampler_.below(held_.size()) : held_.size();
        const auto proposer = static_cast<ReplicaId>(nonce % 3);
        const auto bytes = std::vector<std::uint8_t>(1 + nonce % 40, static_cast<std::uint8_t>(nonce));
        const auto position = retried([&] { return log_.append(proposer, nonce, bytes); });
        if (!position) { return sentence("append never succeeds: ", message(position.error())); }
        if (again) {
            if (held_[nonce].position != *position) {
                return sentence("append is not idempotent: proposal ", nonce, " is at ", held_[nonce].position,
                                " and then at ", *position);
            }
            return {};
        }
        const auto last = held_.empty() ? 0 : held_.back().position;
        if (*position <= last) { return sentence("position ", *position, " follows ", last); }
        held_.push_back({*position, bytes});
        return {};
    }

    /// Reads from a random place, a random number of entries.
    [[nodiscard]] auto read() -> Finding {
        const auto place = sampler_.below(held_.size() + 1);
        const auto after = place == 0 ? 0 : held_[place - 1].position;
        const auto count = 1 + sampler_.below(20);
        const auto got = retried([&] { return log_.read(after, count); });
        if (!got) {
            if (got.error() == OrderedLogError::compacted && after < compacted_) { return {}; }
            return sentence("read after ", after, " fails: ", message(got.error()));
        }
        if (got->empty() && place < held_.size()) { return sentence("read after ", after, " finds no entry"); }
        if (got->size() > count) { return sentence("read gave ", got->size(), " entries, more than ", count); }
        for (std::size_t i = 0; i < got->size(); ++i) {
            if (place + i >= held_.size()) { return sentence("position ", (*got)[i].position, " was not appended"); }
            const auto& expected = held_[place + i];
            if ((*got)[i].position != expected.position) {
                return sentence("after ", after, " comes position ", (*got)[i].position, " where ", expected.position,
                                " is next");
            }
            if ((*got)[i].bytes != expected.bytes) {
                return sentence("the bytes at position ", expected.position, " are not those appended");
            }
        }
        return {};
    }

    /// Compacts the log through a random position.
    [[nodiscard]] auto compact() -> Finding {
        if (held_.empty()) { return {}; }
        const auto through = held_[sampler_.below(held_.size())].position;
        auto error = log_.compact(through);
        for (auto left = tries_max; error == OrderedLogError::unavailable && left > 0; --left) {
            error = log_.compact(through);
        }
        if (error) { return sentence("compact through ", through, " fails: ", message(*error)); }
        compacted_ = std::max(compacted_, through);
        return {};
    }

private:
    static constexpr auto tries_max = 1'000;

    template <class Call>
    [[nodiscard]] static auto retried(const Call& call) -> decltype(call()) {
        auto result = call();
        for (auto left = tries_max; !result && result.error() == OrderedLogError::unavailable && left > 0; --left) {
            result = call();
        }
        return result;
    }

    Log& log_;
    Sampler& sampler_;
    std::vector<LoggedEntry> held_{};
    std::uint64_t compacted_ = 0;
};

}  // namespace detail

/// Checks the contract of an adapter to an ordered log:
///
/// - positions grow, and reading gives each entry once, unchanged and in their order, in pages of any size;
/// - a proposal that is appended again has its first position and no second entry, also after `unavailable`;
/// - reading resumes after any position, and where entries were dropped it says `compacted` and skips none.
///
/// @pre `log` is empty, and no other party appends to it.
/// @complexity `steps` calls, each of few entries.
template <allot::ordered_log Log>
[[nodiscard]] auto ordered_log(Log& log, std::uint64_t seed = 1, std::uint32_t steps = 2'000) -> Finding {
    auto sampler = Sampler{seed};
    auto model = detail::OrderedLogModel<Log>{log, sampler};
    for (std::uint32_t step = 0; step < steps; ++step) {
        const auto act = sampler.below(100);
        const auto finding = act < 50 ? model.append() : act < 99 ? model.read() : model.compact();
        if (finding) { return sentence(*finding, " (step ", step, " of seed ", seed, ")"); }
    }
    return {};
}

}}}  // namespace allot::v0::laws
