#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <allot/core/error.hpp>
#include <allot/core/fields.hpp>
#include <allot/core/id.hpp>
#include <allot/core/parameters.hpp>
#include <allot/core/time.hpp>
#include <allot/core/u128.hpp>
#include <allot/core/units.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `DemandControl`; the defaults are those of the 2026 relay (spec: crynux.md 2.10).
struct DemandControlParameters {
    Duration window = std::chrono::seconds{1'800};    ///< Length of the window whose arrivals give the rate; without
                                                      ///< any in it the demand has ended.
    Ratio safety = 2;                                 ///< Factor on the number of nodes that the rate keeps busy.
    std::uint32_t holders_min = 1;                    ///< Least target while there is demand.
    std::uint32_t holders_max = 10;                   ///< Largest target.
    Duration deadline = std::chrono::seconds{1'800};  ///< Time that a node asked for a model has to get it.

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        constexpr auto length = [](Duration d) { return d > Duration{0} && d.count() < std::int64_t{1} << 32U; };
        return detail::first_unmet({
            {length(window), "allot: DemandControl: window must be positive and below 2^32 ms"},
            {length(deadline), "allot: DemandControl: deadline must be positive and below 2^32 ms"},
            {safety.den >= 1, "allot: DemandControl: safety needs a denominator of at least 1"},
            {holders_min <= holders_max && holders_max <= 1'000,
             "allot: DemandControl: holders_max must be holders_min to 1,000"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const DemandControlParameters&, const DemandControlParameters&) noexcept
        -> bool = default;
};
ALLOT_FIELDS(DemandControlParameters, window, safety, holders_min, holders_max, deadline)

/// The number of nodes that should hold a model, from the amount of work that needs it: target = ⌈arrivals per second ×
/// mean run time × safety⌉ between a least and a largest (spec: crynux.md 2.10).
///
/// It is a value for one demand: a model with the VRAM and platform it needs. The embedder queries it from time to
/// time, draws among the nodes it `may_ask`, and reports their results. A placement policy cannot do this, because it
/// sees one start at a time and keeps no history. Times never go back.
class DemandControl {
public:
    using Parameters = DemandControlParameters;

    DemandControl() = default;
    explicit DemandControl(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    /// Records the arrival of a task with this run time. Error: `time_went_back`, `time_too_late` or
    /// `duration_invalid`; then nothing changes.
    /// @complexity amortised constant.
    auto arrived(TimePoint now, Duration run_time) -> std::optional<Error> {
        if (const auto error = check(now)) { return error; }
        if (run_time <= Duration{0} || run_time.count() >= std::int64_t{1} << 32U) { return Error::duration_invalid; }
        arrivals_.push_back({now, static_cast<std::uint64_t>(run_time.count())});
        work_ms_ += arrivals_.back().run_ms;
        return std::nullopt;
    }

    /// Number of nodes that should hold the model now; 0 without demand. The demand period ends with the demand, and
    /// then all nodes may be asked again. Error: `time_went_back` or `time_too_late`.
    /// @complexity amortised constant.
    [[nodiscard]] auto target(TimePoint now) -> Result<std::uint32_t> {
        if (const auto error = check(now)) { return Failure{*error}; }
        if (first_ == arrivals_.size()) { return 0; }
        // arrivals / window × mean run time is their work over the window. Below 2^32 arrivals of 2^32 ms, times 2^32.
        const auto window = u128{static_cast<std::uint64_t>(parameters_.window.count())} * parameters_.safety.den;
        const auto nodes = (u128{work_ms_} * parameters_.safety.num + window - u128{1}) / window;
        const auto most = std::min(nodes, u128{parameters_.holders_max});
        return std::max(static_cast<std::uint32_t>(most), parameters_.holders_min);
    }

    /// Number of nodes to ask now, in addition to those that hold the model or were asked and still have time. Error:
    /// as `target`.
    /// @param holders Number of nodes that hold it, free or busy.
    /// @complexity linear in the nodes asked.
    [[nodiscard]] auto wanted(TimePoint now, std::uint32_t holders) -> Result<std::uint32_t> {
        const auto target_now = target(now);
        if (!target_now) { return target_now; }
        const auto there = std::uint64_t{holders} + pending(now);
        return *target_now > there ? static_cast<std::uint32_t>(*target_now - there) : 0;
    }

    /// True while the node was not yet asked in this demand period: a node that failed is not asked twice (spec: D39).
    /// @complexity linear in the nodes asked.
    [[nodiscard]] auto may_ask(NodeId node) const -> bool { return find(node) == asked_.end(); }

    /// Records that the node was asked. Error: as `target`, or `node_duplicate` if it was asked in this period before.
    /// @complexity linear in the nodes asked.
    auto asked(NodeId node, TimePoint now) -> std::optional<Error> {
        if (const auto error = check(now)) { return error; }
        if (!may_ask(node)) { return Error::node_duplicate; }
        asked_.push_back({node, now + parameters_.deadline});
        return std::nullopt;
    }

    /// Records that the node has the model now, or never will; it is no longer pending. Error: `node_unknown` if it was
    /// not asked.
    /// @complexity linear in the nodes asked.
    auto settled(NodeId node) -> std::optional<Error> {
        const auto place = find(node);
        if (place == asked_.end()) { return Error::node_unknown; }
        asked_[static_cast<std::size_t>(place - asked_.begin())].deadline = TimePoint{};
        return std::nullopt;
    }

    /// Number of nodes asked whose deadline has not passed and that are not settled.
    /// @complexity linear in the nodes asked.
    [[nodiscard]] auto pending(TimePoint now) const -> std::uint32_t {
        return static_cast<std::uint32_t>(
            std::count_if(asked_.begin(), asked_.end(), [&](const Asked& a) { return now < a.deadline; }));
    }

    [[nodiscard]] auto parameters() const noexcept -> const Parameters& { return parameters_; }

private:
    struct Arrival {
        TimePoint at{};
        std::uint64_t run_ms = 0;
    };
    struct Asked {
        NodeId node;
        TimePoint deadline{};
    };

    /// Advances the time: arrivals older than the window are forgotten, and with the last of them the period ends.
    auto check(TimePoint now) -> std::optional<Error> {
        if (now < now_) { return Error::time_went_back; }
        if (now > time_point_max) { return Error::time_too_late; }
        now_ = now;
        while (first_ < arrivals_.size() && arrivals_[first_].at + parameters_.window <= now) {
            work_ms_ -= arrivals_[first_].run_ms;
            ++first_;
        }
        if (first_ == arrivals_.size()) { asked_.clear(); }
        if (first_ > arrivals_.size() / 2) {
            arrivals_.erase(arrivals_.begin(), arrivals_.begin() + static_cast<std::ptrdiff_t>(first_));
            first_ = 0;
        }
        return std::nullopt;
    }
    [[nodiscard]] auto find(NodeId node) const -> std::vector<Asked>::const_iterator {
        return std::find_if(asked_.begin(), asked_.end(), [&](const Asked& a) { return a.node == node; });
    }

    Parameters parameters_{};
    std::vector<Arrival> arrivals_;  // ascending; those before `first_` are forgotten
    std::size_t first_ = 0;
    std::uint64_t work_ms_ = 0;  // of the arrivals that count
    std::vector<Asked> asked_;
    TimePoint now_{};
};

}}  // namespace allot::v0
