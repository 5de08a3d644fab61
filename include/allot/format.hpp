#pragma once

#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <allot/core/event.hpp>
#include <allot/core/reason.hpp>
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
        return text("node {} excluded until {} ms", e.node.text(), e.until.time_since_epoch().count());
    }
    auto operator()(const event::NodeReadmitted& e) const { return text("node {} readmitted", e.node.text()); }
    auto operator()(const event::ModelWanted& e) const {
        return text("node {} should fetch model {} (task {})", e.node.text(), e.model, e.task.text());
    }
    auto operator()(const event::ModelsReported& e) const { return text("node {} reported its models", e.node.text()); }
    auto operator()(const event::NodeScored& e) const {
        return e.outcome.kind == OutcomeKind::scored ? text("node {} scored {} points", e.node.text(), e.outcome.points)
                                                     : text("node {} observed: {}", e.node.text(), name_of(e.outcome.kind));
    }
    auto operator()(const event::TaskQueued& e) const {
        return text("task {} queued until {} ms", e.task.text(), e.deadline.time_since_epoch().count());
    }
    auto operator()(const event::TaskStarted& e) const {
        return text("task {} started on node {} until {} ms", e.lease.task.text(), e.lease.node.text(),
                    e.lease.deadline.time_since_epoch().count());
    }
    auto operator()(const event::TaskCommitted& e) const {
        return text("task {} committed by node {}", e.lease.task.text(), e.lease.node.text());
    }
    auto operator()(const event::TaskDisclosed& e) const {
        return text("task {} disclosed by node {}", e.lease.task.text(), e.lease.node.text());
    }
    auto operator()(const event::LeaseRenewed& e) const {
        return text("task {} renewed on node {} until {} ms", e.lease.task.text(), e.lease.node.text(),
                    e.lease.deadline.time_since_epoch().count());
    }
    auto operator()(const event::LeaseDeclined& e) const {
        return text("task {} declined by node {}", e.lease.task.text(), e.lease.node.text());
    }
    auto operator()(const event::LeaseCompleted& e) const {
        return text("task {} completed by node {}, its member {} of {}", e.lease.task.text(), e.lease.node.text(),
                    e.lease.member + 1, e.lease.of);
    }
    auto operator()(const event::LeaseLost& e) const {
        return text("task {} goes on without node {}: {}", e.lease.task.text(), e.lease.node.text(), name_of(e.outcome));
    }
    auto operator()(const event::LeaseWithdrawn& e) const {
        return text("task {} taken back from node {}", e.lease.task.text(), e.lease.node.text());
    }
    auto operator()(const event::TaskRetried& e) const {
        return text("task {} starts over: {}", e.task.text(), name_of(e.outcome));
    }
    auto operator()(const event::TaskDone& e) const {
        return text("task {} done by node {}; fee {}", e.task.text(), e.node.text(), to_decimal(e.fee.units));
    }
    auto operator()(const event::TaskFailed& e) const {
        return text("task {} failed: {}; refund {}", e.task.text(), name_of(outcome_of(e.cause)), to_decimal(e.refund.units));
    }
    auto operator()(const event::TaskCancelled& e) const {
        return text("task {} cancelled; refund {}", e.task.text(), to_decimal(e.refund.units));
    }
    auto operator()(const event::TaskEvicted& e) const {
        return text("task {} evicted: {}; refund {}", e.task.text(),
                    e.reason == event::Eviction::queue_full     ? "the queue is full and its value the lowest"
                    : e.reason == event::Eviction::queue_shrunk ? "the network shrank and its value is the lowest"
                                                                : "too many different requirements are in use",
                    to_decimal(e.refund.units));
    }
    auto operator()(const event::TaskTimedOut& e) const {
        return text("task {} timed out {}; refund {}", e.task.text(),
                    e.expiry == event::Expiry::queue ? "in the queue" : "on its node", to_decimal(e.refund.units));
    }
    auto operator()(const event::Advanced& e) const { return text("advanced to {} ms", e.now.time_since_epoch().count()); }
    auto operator()(const event::Matched& e) const { return text("matched: {} tasks started", e.started); }
    auto operator()(const event::Configured& e) const { return text("configured: rules version {}", e.rules_version); }
    auto operator()(const event::NodeDisplaced& e) const {
        return text("node {} gave way to one of more stake, {} staked tokens returned", e.node.text(),
                    to_decimal(e.stake_returned.units));
    }
    auto operator()(const event::Refused& e) const { return text("refused: {}", message(e.error)); }
};

/// Whether a type is an alternative of a variant.
template <class E, class V>
struct OneOf;
template <class E, class... Es>
struct OneOf<E, std::variant<Es...>> {
    static constexpr bool value = (std::is_same_v<E, Es> || ...);
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
    requires(allot::detail::OneOf<E, allot::Event>::value)
struct fmt::formatter<E> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(const E& event, Context& context) const {
        return allot::detail::EventText<decltype(context.out())>{context.out()}(event);
    }
};
