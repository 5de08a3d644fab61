#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <allot/core/events.hpp>
#include <allot/journal/encode.hpp>
#include <allot/journal/event_hash.hpp>
#include <allot/journal/log.hpp>
#include <allot/journal/rooted_receipt.hpp>
#include <allot/journal/snapshot.hpp>
#include <allot/journal/state_root.hpp>
#include <allot/json.hpp>

#include "difference.hpp"
#include "explain.hpp"
#include "log_input.hpp"
#include "options.hpp"
#include "output.hpp"
#include "receipt_line.hpp"

namespace replay {

/// A network on which a log is played from its beginning. It answers questions about the position reached.
template <class Dispatcher>
class Player {
public:
    using Entry = allot::LogEntry<typename Dispatcher::Command>;

    explicit Player(Dispatcher dispatcher) : dispatcher_{std::move(dispatcher)} {}

    auto apply(const Entry& entry) -> allot::Events {
        auto events = dispatcher_.apply(entry.command, entry.moment);
        count(events);
        return events;
    }

    /// Applies a command and returns the receipts of its choices. @pre All commands so far were applied so.
    auto receipts_of(const Entry& entry) -> std::vector<allot::RootedReceipt> {
        if (!writer_) { writer_.emplace(dispatcher_); }
        auto events = allot::Events{};
        auto receipts = writer_->apply(dispatcher_, entry.command, entry.moment, events);
        count(events);
        return receipts;
    }

    /// Makes the choice of a receipt again, from the state reached and the command to come.
    [[nodiscard]] auto fault(const std::string& receipt, const Entry& entry, const Dispatcher& composed) const
        -> std::optional<allot::ReceiptFault> {
        const auto trusted = allot::HistoryHashes{allot::state_root(dispatcher_), hash_.value()};
        const auto bytes = std::vector<std::uint8_t>(receipt.begin(), receipt.end());
        return allot::verify<Dispatcher>(bytes, trusted, position_, allot::snapshot(dispatcher_, position_),
                                         {&entry, 1}, composed);
    }

    /// Returns the position reached, and the hashes of all events and of the state.
    [[nodiscard]] auto summary() const -> Json {
        return {{"position", position_},
                {"events", count_},
                {"event_hash", hex(hash_.value())},
                {"state_root", hex(allot::state_root(dispatcher_))}};
    }

    /// Explains why a task waits, or which tasks a node gets. Throws `InputError` if neither exists.
    [[nodiscard]] auto explain(const Subject& subject, bool text) -> std::string {
        return explained(dispatcher_, subject, position_, text);
    }

private:
    void count(const allot::Events& events) {
        hash_.add(events);
        ++position_;
        count_ += events.size();
    }
    static auto hex(const allot::Hash256& hash) -> std::string { return allot::Id<struct HashTag>{hash}.hex(); }

    Dispatcher dispatcher_;
    std::optional<allot::ReceiptWriter<Dispatcher>> writer_{};
    allot::EventHash hash_{};
    std::uint64_t position_ = 0;
    std::uint64_t count_ = 0;
};

/// Returns the next entry before the position to stop at; none there and at the end. Throws if the log ends too early.
template <class Command>
[[nodiscard]] auto next_until(LogInput<Command>& input, const Options& options)
    -> std::optional<allot::LogEntry<Command>> {
    if (input.position() == options.until) { return std::nullopt; }
    auto entry = input.next();
    if (!entry && options.until) {
        throw InputError{input.name() + ": ends at position " + std::to_string(input.position()) +
                         ", before position " + std::to_string(*options.until)};
    }
    return entry;
}

/// Returns the effects of a command as one object, so that the sender of the command knows where its answer ends.
template <class Command>
[[nodiscard]] auto reply(std::uint64_t position, const allot::LogEntry<Command>& entry, const allot::Events& events)
    -> Json {
    return {{"position", position},
            {"time", allot::json_of(entry.moment.time)},
            {"events", allot::json_of(events)},
            {"accepted", events.accepted()}};
}

/// Plays a log and writes the events.
template <class Dispatcher>
auto play(const Options& options, Output& output, Dispatcher dispatcher) -> Status {
    const auto subject = options.explain.empty() ? std::nullopt : std::optional{subject_from(options.explain)};
    auto input = LogInput<typename Dispatcher::Command>{options.log, options.from};
    auto player = Player<Dispatcher>{std::move(dispatcher)};
    while (const auto entry = next_until(input, options)) {
        const auto position = input.position() - 1;
        const auto events = player.apply(*entry);
        if (options.reply) {
            output.line(allot::json_text(reply(position, *entry, events)));
        } else if (!options.quiet) {
            for (const auto& event : events) {
                output.line("{\"position\":" + std::to_string(position) + "," + allot::write_json(event).substr(1));
            }
        }
    }
    output.line(subject ? player.explain(*subject, options.text) : allot::json_text(player.summary()));
    return all_well;
}

/// Writes the commands of a log in the other form, or again in the same.
template <class Dispatcher>
auto convert(const Options& options, Output& output) -> Status {
    auto input = LogInput<typename Dispatcher::Command>{options.log, options.from};
    auto writer = allot::LogWriter{output};
    while (const auto entry = next_until(input, options)) {
        if (*options.to == Format::json) {
            output.line(allot::write_json(*entry));
        } else if (const auto written = writer.append(allot::encode(*entry)); !written) {
            throw InputError{input.name() + ": position " + std::to_string(input.position() - 1) + ": " +
                             std::string{allot::message(written.error())}};
        }
    }
    if (*options.to == Format::binary) {
        (void)writer.sync();  // writes the header even of a log without records
    }
    return all_well;
}

/// Plays two logs. Reports the first command in which they differ, and the first events that show it.
template <class Dispatcher>
auto compare(const Options& options, Output& output, Dispatcher dispatcher) -> Status {
    using Command = typename Dispatcher::Command;
    using Entry = std::optional<allot::LogEntry<Command>>;
    auto input = LogInput<Command>{options.log, options.from};
    auto other_input = LogInput<Command>{options.compare_with, options.from};
    auto player = Player<Dispatcher>{std::move(dispatcher)};
    auto position = std::uint64_t{0};
    auto first = Entry{};
    auto second = Entry{};
    const auto read = [&] {
        first = next_until(input, options);
        second = next_until(other_input, options);
        return first || second;
    };
    for (; read(); ++position) {
        if (!first || !second || allot::encode(*first) != allot::encode(*second)) { break; }
        (void)player.apply(*first);
    }
    if (!first && !second) {
        output.line(allot::json_text(player.summary()));
        return all_well;
    }

    const auto tell = [&](const char* what, const Json& a, const Json& b) {
        const auto found = first_difference(a, b);
        if (found) {
            output.line(allot::json_text({{"differ", what},
                                          {"position", position},
                                          {"field", found->field},
                                          {"first", found->first},
                                          {"second", found->second}}));
        }
        return found.has_value();
    };
    const auto command_of = [](const Entry& entry) { return entry ? allot::json_of(*entry) : Json(); };
    const auto events_of = [](Player<Dispatcher>& one, const Entry& entry) {
        return entry ? allot::json_of(one.apply(*entry)) : Json::array();
    };
    tell("command", command_of(first), command_of(second));
    auto other = player;
    while (!tell("events", events_of(player, first), events_of(other, second)) && read()) { ++position; }
    return logs_differ;
}

/// Plays a log and writes the receipts of all choices, and nothing else.
template <class Dispatcher>
auto write_receipts(const Options& options, Output& output, Dispatcher dispatcher) -> Status {
    auto input = LogInput<typename Dispatcher::Command>{options.log, options.from};
    auto player = Player<Dispatcher>{std::move(dispatcher)};
    while (const auto entry = next_until(input, options)) {
        for (const auto& receipt : player.receipts_of(*entry)) { output.line(allot::write_json(line_of(receipt))); }
    }
    return all_well;
}

/// Plays a log and makes the choices of receipts again. Writes a line for each receipt that is refused.
template <class Dispatcher>
auto verify_receipts(const Options& options, Output& output, Dispatcher composed) -> Status {
    auto input = LogInput<typename Dispatcher::Command>{options.log, options.from};
    auto player = Player<Dispatcher>{composed};
    auto waiting = receipts_from(options.verify);
    auto verified = std::uint64_t{0};
    auto refused = std::uint64_t{0};
    const auto refuse = [&](const ReceiptLine& line, const allot::ReceiptFault& fault) {
        ++refused;
        auto told = Json{{"position", line.position}, {"ordinal", line.ordinal}, {"refused", message(fault.error)}};
        if (!fault.field.empty()) { told["field"] = fault.field; }
        output.line(allot::json_text(told));
    };
    while (const auto entry = next_until(input, options)) {
        const auto position = input.position() - 1;
        for (; !waiting.empty() && waiting.begin()->first == position; waiting.erase(waiting.begin())) {
            const auto& line = waiting.begin()->second;
            const auto fault = player.fault(line.receipt, *entry, composed);
            if (fault) {
                refuse(line, *fault);
            } else if (!states_its_receipt(line)) {
                refuse(line, {allot::ReceiptError::differs, "the line"});
            } else {
                ++verified;
            }
        }
        (void)player.apply(*entry);
    }
    for (const auto& [position, line] : waiting) { refuse(line, {allot::ReceiptError::log_incomplete}); }
    auto sum = player.summary();
    sum["verified"] = verified;
    sum["refused"] = refused;
    output.line(allot::json_text(sum));
    return refused == 0 ? all_well : receipts_refused;
}

/// Does what the command line requests, with a network that has no records yet.
template <class Dispatcher>
auto run(const Options& options, Output& output, Dispatcher dispatcher) -> Status {
    const auto status = !options.compare_with.empty() ? compare(options, output, std::move(dispatcher))
                        : options.to                  ? convert<Dispatcher>(options, output)
                        : options.receipts            ? write_receipts(options, output, std::move(dispatcher))
                        : !options.verify.empty()     ? verify_receipts(options, output, std::move(dispatcher))
                                                      : play(options, output, std::move(dispatcher));
    output.flush();
    return status;
}

}  // namespace replay
