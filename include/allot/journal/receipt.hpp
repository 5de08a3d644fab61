#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <allot/core/sha256.hpp>
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/dispatcher/trace.hpp>
#include <allot/journal/encode.hpp>
#include <allot/journal/snapshot.hpp>

namespace allot { inline namespace v0 {

/// One choice, stated so that any party with the state before it can repeat it.
///
/// Candidates of a draw or a copy are nodes with their weights, in the order of the records. Candidates of a pull are
/// the waiting tasks that the node can run, those of an eviction all waiting tasks, with their values. Their digest is
/// the SHA-256 of these pairs in canonical form.
struct Receipt {
    DecisionKind kind = DecisionKind::draw;
    std::uint32_t rules_version = 0;
    std::uint64_t position = 0;  ///< Of the command in the log.
    std::uint32_t ordinal = 0;   ///< Index of the choice within its command, from 0.
    TimePoint time{};
    TaskId task = TaskId::null();      ///< The task drawn for, pulled or evicted, or the one that wants the
                                       ///< model.
    std::uint32_t attempt = 0;         ///< Number of starts of the task before.
    std::string model{};               ///< The model to be fetched; else empty.
    std::optional<Entropy> entropy{};  ///< None if the choice is not random.
    std::uint32_t candidates = 0;
    Hash256 candidates_digest{};
    u128 weight_total{};           ///< Sum over all candidates, in units of 2^-92; zero if nothing was
                                   ///< weighed.
    std::uint32_t rejections = 0;  ///< Rejected tries. A draw took one more, unless it stayed undecided.
    bool scanned = false;          ///< True if an exact scan decided: weights have no bounds, or rules version 1.
    NodeId node = NodeId::null();  ///< The node chosen, or the one that pulled; null for an eviction.
    u128 weight{};                 ///< The weight of the node chosen, in the same units.

    friend auto operator==(const Receipt&, const Receipt&) -> bool = default;
};
ALLOT_FIELDS(Receipt, kind, rules_version, position, ordinal, time, task, attempt, model, entropy, candidates,
             candidates_digest, weight_total, rejections, scanned, node, weight)

/// Collects the receipts of one command.
///
///     auto receipts = allot::Receipts<decltype(dispatcher)>{position};
///     dispatcher.apply(command, moment, events, receipts.trace());
///
/// @complexity linear in the nodes and tasks for each choice, because it counts the candidates one by one. So record
/// the choices that you may have to prove, not all at all times.
template <class Dispatcher>
class Receipts {
public:
    /// Collects nothing yet. `position` is that of the command in the log.
    explicit Receipts(std::uint64_t position) noexcept : position_{position} {}

    /// The trace to pass to `apply`. It may not outlive the receipts.
    [[nodiscard]] auto trace() noexcept -> Trace<typename Dispatcher::View> {
        return {this, [](void* self, const typename Dispatcher::View& view, const Decision& choice) {
                    static_cast<Receipts*>(self)->add(view, choice);
                }};
    }
    /// The receipts, in the order of the choices.
    [[nodiscard]] auto all() const noexcept -> const std::vector<Receipt>& { return all_; }

private:
    void add(const typename Dispatcher::View& view, const Decision& choice) {
        const auto& state = view.records;
        auto receipt = Receipt{};
        receipt.kind = choice.kind;
        receipt.rules_version = state.counters().rules_version;
        receipt.position = position_;
        receipt.ordinal = static_cast<std::uint32_t>(all_.size());
        receipt.time = state.counters().now;
        receipt.task = choice.task.id;
        receipt.attempt = choice.task.attempt;
        receipt.rejections = choice.drawn.rejections;
        receipt.scanned = choice.drawn.scanned;
        receipt.weight = choice.drawn.weight.raw();
        if (choice.entropy != nullptr) { receipt.entropy = *choice.entropy; }
        if (choice.kind != DecisionKind::eviction && !choice.drawn.undecided()) {
            receipt.node = state.nodes()[choice.drawn.node].node.id;
        }
        auto hash = Sha256{};
        const auto candidate = [&](const auto& id, const auto& weight) {
            ++receipt.candidates;
            buffer_.clear();
            auto out = Encoder{buffer_};
            out.put(id);
            out.put(weight);
            hash.bytes(buffer_);
        };
        const auto node = [&](NodeHandle h, Weight weight) {
            candidate(state.nodes()[h].node.id, weight.raw());
            receipt.weight_total += weight.raw();
        };
        const auto task = [&](TaskHandle, const Task& waiting) { candidate(waiting.id, waiting.value); };
        switch (choice.kind) {
            case DecisionKind::draw: view.each_candidate(choice, node); break;
            case DecisionKind::copy:
                receipt.model = state.models().name(choice.model);
                view.each_fetcher(choice.task, choice.model, node);
                break;
            case DecisionKind::pull: view.each_runnable(choice.drawn.node, task); break;
            case DecisionKind::eviction:
                state.tasks().for_each([&](TaskHandle h, const Task& waiting) {
                    if (waiting.state == TaskState::queued) { task(h, waiting); }
                });
                break;
        }
        receipt.candidates_digest = hash.finish();
        all_.push_back(std::move(receipt));
    }

    std::uint64_t position_;
    std::vector<Receipt> all_{};
    std::vector<std::uint8_t> buffer_{};
};

/// The reason why a receipt is not accepted. The numbers are stable.
enum class ReceiptError : std::uint8_t {
    malformed = 1,
    snapshot_refused = 2,
    log_incomplete = 3,
    no_such_choice = 4,
    differs = 5,
    root_differs = 6,
    position_differs = 7,
};

/// The error and its remedy, in one sentence.
[[nodiscard]] constexpr auto message(ReceiptError error) noexcept -> std::string_view {
    switch (error) {
        case ReceiptError::malformed: return "the receipt's bytes are not in canonical form";
        case ReceiptError::snapshot_refused: return "the snapshot cannot be loaded; see the snapshot fault";
        case ReceiptError::log_incomplete:
            return "the snapshot and the log do not lead to the receipt's position; pass an earlier "
                   "snapshot or a longer log";
        case ReceiptError::no_such_choice: return "the command at the receipt's position made fewer choices";
        case ReceiptError::differs: return "the choice was another one than the receipt states";
        case ReceiptError::root_differs: return "the snapshot is of another state than the trusted root";
        case ReceiptError::position_differs: return "the snapshot is of another position than the trusted one";
    }
    return "unknown error";
}

/// The fault of a receipt.
struct ReceiptFault {
    ReceiptError error = ReceiptError::malformed;
    std::string_view field{};                 ///< The first field that differs.
    std::optional<SnapshotFault> snapshot{};  ///< The reason why the snapshot was refused.

    friend auto operator==(const ReceiptFault&, const ReceiptFault&) noexcept -> bool = default;
};

namespace detail {

/// The dispatcher of a snapshot after the commands of the log before `position`; `position` stays the snapshot's. Calls
/// `followed(events)` for each of them. `trusted`, if stated, is the snapshot's root and position.
template <class Dispatcher, class F>
[[nodiscard]] auto state_before(std::uint64_t position, std::span<const std::uint8_t> snapshot,
                                std::span<const LogEntry<typename Dispatcher::Command>> log, Dispatcher composed,
                                const std::optional<std::pair<Hash256, std::uint64_t>>& trusted, F&& followed)
    -> Result<Loaded<Dispatcher>, ReceiptFault> {
    const auto refused = [](const ReceiptFault& fault) { return FailureOf<ReceiptFault>{fault}; };
    auto loaded = load_snapshot(snapshot, std::move(composed), {SnapshotParameters::taken_over});
    if (!loaded) { return refused({ReceiptError::snapshot_refused, {}, loaded.error()}); }
    if (trusted && trusted->first != loaded->state_root) { return refused({ReceiptError::root_differs}); }
    if (trusted && trusted->second != loaded->position) { return refused({ReceiptError::position_differs}); }
    if (position < loaded->position || position - loaded->position >= log.size()) {
        return refused({ReceiptError::log_incomplete});
    }
    auto events = Events{};
    for (const auto& entry : log.first(static_cast<std::size_t>(position - loaded->position))) {
        events.clear();
        loaded->dispatcher.apply(entry.command, entry.moment, events);
        followed(events);
    }
    return std::move(*loaded);
}

/// The fault that names the first field in which a receipt differs from the one that was made; null if none does.
template <class R>
[[nodiscard]] auto difference(const R& made, const R& stated) -> std::optional<ReceiptFault> {
    if (made == stated) { return std::nullopt; }
    auto fault = ReceiptFault{ReceiptError::differs};
    const auto bytes_of = [](const R& of) {
        auto fields = std::vector<std::pair<std::string_view, std::vector<std::uint8_t>>>{};
        each_field(of, [&](std::string_view name, const auto& value) {
            auto out = Encoder{fields.emplace_back(name, std::vector<std::uint8_t>{}).second};
            out.put(value);
        });
        return fields;
    };
    const auto ours = bytes_of(made);
    const auto theirs = bytes_of(stated);
    for (std::size_t i = 0; i < ours.size() && fault.field.empty(); ++i) {
        fault.field = ours[i] == theirs[i] ? std::string_view{} : ours[i].first;
    }
    return fault;
}

}  // namespace detail

/// Repeats a receipt's choice from a snapshot at or before its position and the log from there on: every candidate,
/// weight and random draw. Then it compares. Null if the receipt is true, else the error.
///
/// `receipt` is `encode` of a Receipt. `composed` is a dispatcher with the policies that decided. One with `LinearPool`
/// and `LinearQueue` decides alike and shares no index with the dispatcher that is verified. Snapshot and log are taken
/// as given, and so is the snapshot's position.
///
/// @complexity the cost of loading the snapshot and of the commands of the log up to the position.
template <class Dispatcher>
[[nodiscard]] auto verify(std::span<const std::uint8_t> receipt, std::span<const std::uint8_t> snapshot,
                          std::span<const LogEntry<typename Dispatcher::Command>> log, Dispatcher composed)
    -> std::optional<ReceiptFault> {
    const auto stated = decode<Receipt>(receipt);
    if (!stated) { return ReceiptFault{ReceiptError::malformed}; }
    auto before =
        detail::state_before(stated->position, snapshot, log, std::move(composed), std::nullopt, [](const Events&) {});
    if (!before) { return before.error(); }
    const auto& entry = log[static_cast<std::size_t>(stated->position - before->position)];
    auto receipts = Receipts<Dispatcher>{stated->position};
    auto events = Events{};
    before->dispatcher.apply(entry.command, entry.moment, events, receipts.trace());
    if (stated->ordinal >= receipts.all().size()) { return ReceiptFault{ReceiptError::no_such_choice}; }
    return detail::difference(receipts.all()[stated->ordinal], *stated);
}

}}  // namespace allot::v0
