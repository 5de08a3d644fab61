#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <allot/core/event.hpp>
#include <allot/core/event_fields.hpp>
#include <allot/core/printable.hpp>
#include <allot/core/reason.hpp>
#include <allot/core/score.hpp>
#include <allot/core/weight.hpp>

namespace allot { inline namespace v0 { namespace detail {

/// A formatter that writes text and takes no options.
struct PlainFormatter {
    constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
};

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

/// A time of this century as a date in UTC, for then its origin is 1970; every other as milliseconds.
[[nodiscard]] inline auto time_text(TimePoint time) -> std::string {
    using namespace std::chrono;
    if (time == never) {
        return "never";
    }
    const auto since_1970 = sys_time<milliseconds>{milliseconds{time.time_since_epoch().count()}};
    const auto day = floor<days>(since_1970);
    const auto date = year_month_day{day};
    if (date.year() < year{2000} || date.year() >= year{2100}) {
        return fmt::format("{} ms", time.time_since_epoch().count());
    }
    const auto clock = hh_mm_ss{since_1970 - day};
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                       clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

/// Writes an event as a person would say it.
template <class Out>
struct EventText {
    Out out;

    template <class... Args>
    auto text(fmt::format_string<Args...> format, Args&&... args) const -> Out {
        return fmt::format_to(out, format, std::forward<Args>(args)...);
    }

    auto operator()(const event::NodeJoined& e) const { return text("node {} joined{}", e.node.text(), e.again ? " again" : ""); }
    auto operator()(const event::NodeUpdated& e) const { return text("node {} updated", e.node.text()); }
    auto operator()(const event::NodePaused& e) const { return text("node {} paused", e.node.text()); }
    auto operator()(const event::NodePausePending& e) const { return text("node {} pauses after its task", e.node.text()); }
    auto operator()(const event::NodeResumed& e) const { return text("node {} resumed", e.node.text()); }
    auto operator()(const event::NodeLeavePending& e) const { return text("node {} leaves after its task", e.node.text()); }
    auto operator()(const event::NodeLeft& e) const {
        return text("node {} left, {} staked tokens go back", e.node.text(), to_decimal(e.stake_returned.units));
    }
    auto operator()(const event::NodeKickedOut& e) const {
        return text("node {} kicked out, {} staked tokens go back", e.node.text(), to_decimal(e.stake_returned.units));
    }
    auto operator()(const event::NodeSlashed& e) const {
        return text("node {} slashed, {} staked tokens forfeited", e.node.text(), to_decimal(e.stake_forfeited.units));
    }
    auto operator()(const event::NodeExcluded& e) const {
        return text("node {} excluded until {}", e.node.text(), time_text(e.until));
    }
    auto operator()(const event::NodeReadmitted& e) const { return text("node {} readmitted", e.node.text()); }
    auto operator()(const event::ModelWanted& e) const {
        return text("node {} should fetch model {} (task {})", e.node.text(), printable(e.model), e.task.text());
    }
    auto operator()(const event::ModelsReported& e) const { return text("node {} reported its models", e.node.text()); }
    auto operator()(const event::NodeScored& e) const {
        return e.outcome.kind == OutcomeKind::scored ? text("node {} scored {} points", e.node.text(), e.outcome.points)
                                                     : text("node {} observed: {}", e.node.text(), name_of(e.outcome.kind));
    }
    auto operator()(const event::TaskQueued& e) const {
        return text("task {} queued until {}", e.task.text(), time_text(e.deadline));
    }
    auto operator()(const event::TaskStarted& e) const {
        return text("task {} started on node {} until {}", e.lease.task.text(), e.lease.node.text(),
                    time_text(e.lease.deadline));
    }
    auto operator()(const event::TaskCommitted& e) const {
        return text("task {} committed by node {}", e.lease.task.text(), e.lease.node.text());
    }
    auto operator()(const event::TaskDisclosed& e) const {
        return text("task {} disclosed by node {}", e.lease.task.text(), e.lease.node.text());
    }
    auto operator()(const event::LeaseRenewed& e) const {
        return text("task {} renewed on node {} until {}", e.lease.task.text(), e.lease.node.text(),
                    time_text(e.lease.deadline));
    }
    auto operator()(const event::LeaseCompleted& e) const {
        return text("task {} completed by node {}, its member {} of {}", e.lease.task.text(), e.lease.node.text(),
                    e.lease.member + 1, e.lease.of);
    }
    auto operator()(const event::LeaseEnded& e) const {
        const auto node = e.lease.node.text();
        const auto task = e.lease.task.text();
        switch (e.how) {
            case event::LeaseEnd::done: return text("node {} is done with task {}", node, task);
            case event::LeaseEnd::failed: return text("node {} failed task {}: {}", node, task, name_of(e.outcome));
            case event::LeaseEnd::timed_out: return text("node {} ran out of time with task {}", node, task);
            case event::LeaseEnd::declined: return text("node {} declined task {}", node, task);
            case event::LeaseEnd::cancelled: return text("node {} is to stop task {}, which was cancelled", node, task);
            case event::LeaseEnd::withdrawn: return text("node {} is to stop task {}, whose gang broke up", node, task);
            case event::LeaseEnd::slashed: break;
        }
        return text("node {} lost task {}, for it was slashed", node, task);
    }
    auto operator()(const event::TaskRetried& e) const {
        return text("task {} starts over: {}", e.task.text(), name_of(e.outcome));
    }
    auto operator()(const event::TaskDone& e) const {
        return text("task {} done by node {}; fee {}", e.task.text(), e.node.text(), to_decimal(e.paid.units));
    }
    auto operator()(const event::TaskFailed& e) const {
        return text("task {} failed: {}; refund {}", e.task.text(), name_of(outcome_of(e.cause)), to_decimal(e.refunded.units));
    }
    auto operator()(const event::TaskCancelled& e) const {
        return text("task {} cancelled; refund {}", e.task.text(), to_decimal(e.refunded.units));
    }
    auto operator()(const event::TaskEvicted& e) const {
        return text("task {} evicted: {}; refund {}", e.task.text(),
                    e.reason == event::Eviction::queue_full     ? "the queue is full and its value the lowest"
                    : e.reason == event::Eviction::queue_shrunk ? "the network shrank and its value is the lowest"
                                                                : "too many different requirements are in use",
                    to_decimal(e.refunded.units));
    }
    auto operator()(const event::TaskTimedOut& e) const {
        return text("task {} timed out {}; refund {}", e.task.text(),
                    e.expiry == event::Expiry::queue ? "in the queue" : "on its node", to_decimal(e.refunded.units));
    }
    auto operator()(const event::Advanced& e) const { return text("advanced to {}", time_text(e.now)); }
    auto operator()(const event::Matched& e) const { return text("matched: {} tasks started", e.started); }
    auto operator()(const event::Configured& e) const { return text("configured: rules version {}", e.rules_version); }
    auto operator()(const event::NodeDisplaced& e) const {
        return text("node {} gave way to one of more stake, {} staked tokens returned", e.node.text(),
                    to_decimal(e.stake_returned.units));
    }
    auto operator()(const event::Refused& e) const { return text("refused: {}", message(e.error)); }
};

}}}  // namespace allot::v0::detail

/// `fmt::print("{}", id)`: a number, text or hex digits, as the id was made.
template <class Tag>
struct fmt::formatter<allot::Id<Tag>> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(const allot::Id<Tag>& id, Context& context) const {
        return fmt::format_to(context.out(), "{}", id.text());
    }
};

template <>
struct fmt::formatter<allot::Error> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(allot::Error error, Context& context) const {
        return fmt::format_to(context.out(), "{}", allot::message(error));
    }
};

template <>
struct fmt::formatter<allot::Reason> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(allot::Reason reason, Context& context) const {
        return fmt::format_to(context.out(), "{}", allot::message(reason));
    }
};

template <>
struct fmt::formatter<allot::Amount> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(const allot::Amount& amount, Context& context) const {
        return fmt::format_to(context.out(), "{}", allot::to_decimal(amount.units));
    }
};

/// `fmt::print("{}", time)`: `2026-11-23T03:49:04.123Z`, or milliseconds where the origin is not 1970.
template <>
struct fmt::formatter<allot::TimePoint> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(allot::TimePoint time, Context& context) const {
        return fmt::format_to(context.out(), "{}", allot::detail::time_text(time));
    }
};

/// A score from 0.000 to 1.000, rounded down.
template <>
struct fmt::formatter<allot::Score> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(allot::Score score, Context& context) const {
        return fmt::format_to(context.out(), "{}.{:03}", score.permille() / 1'000, score.permille() % 1'000);
    }
};

/// A weight with nine decimals, rounded down.
template <>
struct fmt::formatter<allot::Weight> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(allot::Weight weight, Context& context) const {
        constexpr auto unit = allot::Weight::fraction_bits;
        const auto whole = weight.raw() >> unit;
        // Forty bits of the fraction are more than nine decimals; the product fits.
        const auto fraction = ((weight.raw() - (whole << unit)) >> (unit - 40)) * allot::u128{1'000'000'000};
        return fmt::format_to(context.out(), "{}.{:09}", allot::to_decimal(whole), (fraction >> 40).low());
    }
};

template <>
struct fmt::formatter<allot::Lease> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(const allot::Lease& lease, Context& context) const {
        return fmt::format_to(context.out(), "task {} on node {} until {}", lease.task.text(), lease.node.text(),
                              allot::detail::time_text(lease.deadline));
    }
};

/// Every enum that has a list of enumerators and no sentence of its own: the name of the enumerator.
template <class E>
    requires allot::has_enumerators<E>
struct fmt::formatter<E> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(E value, Context& context) const {
        return fmt::format_to(context.out(), "{}", allot::enumerator_name(value));
    }
};

/// `fmt::print("{}", event)`: one sentence.
template <>
struct fmt::formatter<allot::Event> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(const allot::Event& event, Context& context) const {
        return std::visit(allot::detail::EventText<decltype(context.out())>{context.out()}, event);
    }
};

/// One event type by itself.
template <class E>
    requires allot::event_type<E>
struct fmt::formatter<E> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(const E& event, Context& context) const {
        return allot::detail::EventText<decltype(context.out())>{context.out()}(event);
    }
};
