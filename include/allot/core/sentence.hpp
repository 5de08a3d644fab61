#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include <allot/core/event.hpp>
#include <allot/core/outcome.hpp>
#include <allot/core/printable.hpp>
#include <allot/core/time.hpp>

namespace allot { inline namespace v0 {

namespace detail {

/// The concatenation of texts.
/// @complexity linear in the length of the result.
[[nodiscard]] inline auto text(std::initializer_list<std::string_view> parts) -> std::string {
    auto whole = std::string{};
    for (const auto part : parts) { whole += part; }
    return whole;
}

/// The words on a fee that comes back, and on the part of it that does not.
template <class Ended>
[[nodiscard]] auto refund_of(const Ended& e) -> std::string {
    const auto refund = text({"; refund ", to_decimal(e.refunded.units)});
    return e.forfeited == Amount{} ? refund : text({refund, ", forfeited ", to_decimal(e.forfeited.units)});
}

/// A number in decimal digits, padded with zeros to `width`.
[[nodiscard]] inline auto digits(std::int64_t number, std::size_t width) -> std::string {
    const auto plain = std::to_string(number);
    return std::string(plain.size() < width ? width - plain.size() : 0, '0') + plain;
}

[[nodiscard]] constexpr auto name_of(OutcomeKind kind) noexcept -> std::string_view {
    switch (kind) {
        case OutcomeKind::success: return "success";
        case OutcomeKind::timeout: return "timeout";
        case OutcomeKind::timeout_in_group: return "timeout in a validation group";
        case OutcomeKind::out_of_memory: return "out of memory";
        case OutcomeKind::model_download: return "model download failed";
        case OutcomeKind::execution_error: return "execution error";
        case OutcomeKind::incorrect_result: return "incorrect result";
        case OutcomeKind::declined: return "declined";
        case OutcomeKind::cancelled: return "cancelled";
        case OutcomeKind::scored: return "scored";
    }
    return "unknown";
}

}  // namespace detail

/// A time of this century as a date in UTC, assuming the origin 1970; any other time as milliseconds.
[[nodiscard]] inline auto time_text(TimePoint time) -> std::string {
    using namespace std::chrono;
    if (time == never) { return "never"; }
    const auto since_1970 = sys_time<milliseconds>{milliseconds{time.time_since_epoch().count()}};
    const auto day = floor<days>(since_1970);
    const auto date = year_month_day{day};
    if (date.year() < year{2000} || date.year() >= year{2100}) {
        return std::to_string(time.time_since_epoch().count()) + " ms";
    }
    const auto clock = hh_mm_ss{since_1970 - day};
    using detail::digits;
    return detail::text({digits(static_cast<int>(date.year()), 4), "-", digits(static_cast<unsigned>(date.month()), 2),
                         "-", digits(static_cast<unsigned>(date.day()), 2), "T", digits(clock.hours().count(), 2), ":",
                         digits(clock.minutes().count(), 2), ":", digits(clock.seconds().count(), 2), ".",
                         digits(clock.subseconds().count(), 3), "Z"});
}

namespace detail {

/// The visitor that makes an event's sentence. It is no template: a program that writes events compiles it once.
struct EventText {
    auto operator()(const event::NodeJoined& e) const -> std::string {
        return text({"node ", e.node.text(), " joined", e.again ? " again" : ""});
    }
    auto operator()(const event::NodeUpdated& e) const -> std::string {
        return text({"node ", e.node.text(), " updated"});
    }
    auto operator()(const event::NodePaused& e) const -> std::string {
        return text({"node ", e.node.text(), " paused"});
    }
    auto operator()(const event::NodePausePending& e) const -> std::string {
        return text({"node ", e.node.text(), " pauses after its task"});
    }
    auto operator()(const event::NodeResumed& e) const -> std::string {
        return text({"node ", e.node.text(), " resumed"});
    }
    auto operator()(const event::NodeLeavePending& e) const -> std::string {
        return text({"node ", e.node.text(), " leaves after its task"});
    }
    auto operator()(const event::NodeLeft& e) const -> std::string {
        return text({"node ", e.node.text(), " left, ", to_decimal(e.stake_returned.units), " staked tokens go back"});
    }
    auto operator()(const event::NodeKickedOut& e) const -> std::string {
        return text(
            {"node ", e.node.text(), " kicked out, ", to_decimal(e.stake_returned.units), " staked tokens go back"});
    }
    auto operator()(const event::NodeSlashed& e) const -> std::string {
        return text(
            {"node ", e.node.text(), " slashed, ", to_decimal(e.stake_forfeited.units), " staked tokens forfeited"});
    }
    auto operator()(const event::NodeExcluded& e) const -> std::string {
        return text({"node ", e.node.text(), " excluded until ", time_text(e.until)});
    }
    auto operator()(const event::NodeReadmitted& e) const -> std::string {
        return text({"node ", e.node.text(), " readmitted"});
    }
    auto operator()(const event::ModelWanted& e) const -> std::string {
        return text(
            {"node ", e.node.text(), " should fetch model ", printable(e.model), " (task ", e.task.text(), ")"});
    }
    auto operator()(const event::ModelsReported& e) const -> std::string {
        return text({"node ", e.node.text(), " reported its models"});
    }
    auto operator()(const event::NodeScored& e) const -> std::string {
        return e.outcome.kind == OutcomeKind::scored
                   ? text({"node ", e.node.text(), " scored ", std::to_string(e.outcome.points), " points"})
                   : text({"node ", e.node.text(), " observed: ", name_of(e.outcome.kind)});
    }
    auto operator()(const event::TaskQueued& e) const -> std::string {
        return text({"task ", e.task.text(), " queued until ", time_text(e.deadline)});
    }
    auto operator()(const event::TaskStarted& e) const -> std::string {
        return text({"task ", e.lease.task.text(), " started on node ", e.lease.node.text(), " until ",
                     time_text(e.lease.deadline)});
    }
    auto operator()(const event::TaskCommitted& e) const -> std::string {
        return text({"task ", e.lease.task.text(), " committed by node ", e.lease.node.text()});
    }
    auto operator()(const event::TaskDisclosed& e) const -> std::string {
        return text({"task ", e.lease.task.text(), " disclosed by node ", e.lease.node.text()});
    }
    auto operator()(const event::LeaseRenewed& e) const -> std::string {
        return text({"task ", e.lease.task.text(), " renewed on node ", e.lease.node.text(), " until ",
                     time_text(e.lease.deadline)});
    }
    auto operator()(const event::LeaseCompleted& e) const -> std::string {
        return text({"task ", e.lease.task.text(), " completed by node ", e.lease.node.text(), ", its member ",
                     std::to_string(e.lease.member + 1), " of ", std::to_string(e.lease.of)});
    }
    auto operator()(const event::LeaseEnded& e) const -> std::string {
        const auto node = e.lease.node.text();
        const auto task = e.lease.task.text();
        switch (e.how) {
            case event::LeaseEnd::done: return text({"node ", node, " is done with task ", task});
            case event::LeaseEnd::failed: return text({"node ", node, " failed task ", task, ": ", name_of(e.outcome)});
            case event::LeaseEnd::timed_out: return text({"node ", node, " ran out of time with task ", task});
            case event::LeaseEnd::declined: return text({"node ", node, " declined task ", task});
            case event::LeaseEnd::cancelled:
                return text({"node ", node, " is to stop task ", task, ", which was cancelled"});
            case event::LeaseEnd::withdrawn:
                return text({"node ", node, " is to stop task ", task, ", whose gang broke up"});
            case event::LeaseEnd::slashed: break;
        }
        return text({"node ", node, " lost task ", task, ", for it was slashed"});
    }
    auto operator()(const event::TaskRetried& e) const -> std::string {
        return text({"task ", e.task.text(), " starts over: ", name_of(e.outcome)});
    }
    auto operator()(const event::TaskDone& e) const -> std::string {
        const auto done = text({"task ", e.task.text(), " done by node ", e.node.text(), "; fee "});
        const auto paid = to_decimal(e.paid.units);
        return e.refunded == Amount{} ? text({done, paid}) : text({done, paid, refund_of(e)});
    }
    auto operator()(const event::TaskFailed& e) const -> std::string {
        return text({"task ", e.task.text(), " failed: ", name_of(outcome_of(e.cause)), refund_of(e)});
    }
    auto operator()(const event::TaskCancelled& e) const -> std::string {
        return text({"task ", e.task.text(), " cancelled", refund_of(e)});
    }
    auto operator()(const event::TaskEvicted& e) const -> std::string {
        return text({"task ", e.task.text(), " evicted: ",
                     e.reason == event::Eviction::queue_full     ? "the queue is full and its value the lowest"
                     : e.reason == event::Eviction::queue_shrunk ? "the network shrank and its value is the lowest"
                                                                 : "too many different requirements are in use",
                     refund_of(e)});
    }
    auto operator()(const event::TaskTimedOut& e) const -> std::string {
        return text({"task ", e.task.text(), " timed out ",
                     e.expiry == event::Expiry::queue ? "in the queue" : "on its node", refund_of(e)});
    }
    auto operator()(const event::Advanced& e) const -> std::string { return text({"advanced to ", time_text(e.now)}); }
    auto operator()(const event::Matched& e) const -> std::string {
        return text({"matched: ", std::to_string(e.started), " tasks started"});
    }
    auto operator()(const event::Configured& e) const -> std::string {
        return text({"configured: rules version ", std::to_string(e.rules_version)});
    }
    auto operator()(const event::NodeDisplaced& e) const -> std::string {
        return text({"node ", e.node.text(), " gave way to one of more stake, ", to_decimal(e.stake_returned.units),
                     " staked tokens returned"});
    }
    auto operator()(const event::Postponed& e) const -> std::string {
        return text({"postponed: leases and waiting tasks have ", std::to_string(e.by.count()), " ms more"});
    }
    auto operator()(const event::UnbondingBegan& e) const -> std::string {
        return text({"node ", e.node.text(), " took ", to_decimal(e.stake_unbonding.units),
                     " staked tokens away, which are returned at ", time_text(e.until)});
    }
    auto operator()(const event::Refused& e) const -> std::string { return text({"refused: ", message(e.error)}); }
};

}  // namespace detail

/// An event as one sentence. Ids are written as they were made, and names of untrusted parties are made printable.
/// @complexity linear in the length of the sentence.
[[nodiscard]] inline auto sentence(const Event& event) -> std::string { return std::visit(detail::EventText{}, event); }

}}  // namespace allot::v0
