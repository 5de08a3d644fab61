#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <allot/core/event_fields.hpp>
#include <allot/core/printable.hpp>
#include <allot/explain/metrics.hpp>
#include <allot/store/record_fields.hpp>

namespace metrics {

/// Writes figures in Prometheus' text format, https://prometheus.io/docs/instrumenting/exposition_formats/, version
/// 0.0.4. README.md lists the names.
class Exposition {
public:
    /// Begins a family of figures; its samples follow.
    void family(std::string_view name, std::string_view type, std::string_view help) {
        name_ = name;
        fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
    }
    /// Writes a sample of the family. `labels` is empty or, for example, `state="busy"`.
    template <class Number>
    void sample(const Number& number, std::string_view labels = "", std::string_view suffix = "") {
        const auto open = labels.empty() ? "" : "{";
        const auto close = labels.empty() ? "" : "}";
        fmt::format_to(std::back_inserter(text_), "{}{}{}{}{} {}\n", name_, suffix, open, labels, close, number);
    }
    /// Writes a family of one sample.
    template <class Number>
    void one(std::string_view name, std::string_view type, std::string_view help, const Number& number) {
        family(name, type, help);
        sample(number);
    }
    [[nodiscard]] auto text() const -> const std::string& { return text_; }

private:
    std::string text_;
    std::string_view name_;
};

/// True for a character that the format has no place for: a byte that is no UTF-8, or NUL.
inline auto is_unwritable(const allot::detail::Character& character) -> bool {
    return character.code == 0 || (character.code == 0xFFFD && character.size == 1);
}

/// `name="value"`, where the value may be any bytes. Those that the format has no place for become U+FFFD.
inline auto label(std::string_view name, std::string_view value) -> std::string {
    auto text = fmt::format("{}=\"", name);
    while (!value.empty()) {
        const auto first = allot::detail::first_character(value);
        const auto c = value.front();
        text += c == '\\' ? "\\\\" : c == '"' ? "\\\"" : c == '\n' ? "\\n" : value.substr(0, first.size);
        if (is_unwritable(first)) { text.replace(text.size() - 1, 1, "\xEF\xBF\xBD"); }
        value.remove_prefix(first.size);
    }
    return text + '"';
}

/// A name as one item of a list, so that two lists never give one text: `\` stands before the marks of a list, and a
/// byte that is no UTF-8 is `\xff`.
inline auto item(std::string_view name) -> std::string {
    auto text = std::string{};
    while (!name.empty()) {
        const auto first = allot::detail::first_character(name);
        if (is_unwritable(first)) {
            text += fmt::format("\\x{:02x}", static_cast<unsigned char>(name.front()));
        } else {
            if (std::string_view{"\\,:!"}.find(name.front()) != std::string_view::npos) { text += '\\'; }
            text += name.substr(0, first.size);
        }
        name.remove_prefix(first.size);
    }
    return text;
}

/// Returns milliseconds as seconds, exactly and without trailing zeros.
inline auto seconds(std::uint64_t ms) -> std::string {
    auto text = fmt::format("{}.{:03}", ms / 1'000, ms % 1'000);
    text.resize(text.find_last_not_of('0') + 1);
    return text.back() == '.' ? text.substr(0, text.size() - 1) : text;
}

/// Returns a fraction as a decimal number; 0 if its denominator is 0.
inline auto ratio(const allot::Fraction& fraction) -> std::string {
    auto num = fraction.num;
    auto den = fraction.den;
    while (bit_width(den) > 100) {  // so that a million times the numerator fits
        num = num >> 1;
        den = den >> 1;
    }
    const auto millionths = den == allot::u128{} ? 0 : (num * allot::u128{1'000'000} / den).low();
    return fmt::format("{}.{:06}", millionths / 1'000'000, millionths % 1'000'000);
}

/// Names of the types of events, in the order of `Event`.
template <class... Es>
auto names_of(std::type_identity<std::variant<Es...>>) -> std::array<std::string_view, sizeof...(Es)> {
    return {allot::type_name<Es>()...};
}

inline void write_histogram(Exposition& out, const allot::Histogram& histogram) {
    auto count = std::uint64_t{0};
    for (std::size_t i = 0; i < histogram.buckets.size(); ++i) {
        count += histogram.buckets[i];
        const auto last = i == allot::Histogram::bounds.size();
        const auto bound = last ? "+Inf" : seconds(static_cast<std::uint64_t>(allot::Histogram::bounds[i].count()));
        out.sample(count, label("le", bound), "_bucket");
    }
    out.sample(seconds(histogram.sum_ms), "", "_sum");
    out.sample(histogram.count, "", "_count");
}

/// Returns the requirement of one group of the queue as labels.
inline auto labels_of(const allot::Requirement& group) -> std::string {
    const auto joined = [](const auto& items, auto&& text) {
        auto all = std::string{};
        for (const auto& item : items) { (all += all.empty() ? "" : ",") += text(item); }
        return all;
    };
    const auto gpus = joined(group.gpus, [](const allot::GpuChoice& gpu) {
        return gpu.vram.count == 0 ? item(gpu.name) : fmt::format("{}:{}", item(gpu.name), gpu.vram.count);
    });
    const auto platforms =
        joined(group.platforms, [](const std::string& platform) { return item(platform); }) +
        joined(group.platforms_refused, [](const std::string& platform) { return "!" + item(platform); });
    auto version = std::string{};
    if (const auto& least = group.software) {
        version = fmt::format("{}.{}.{}", least->major, least->minor, least->patch);
    }
    const auto gang = fmt::format("{}{}", group.gang_size, group.same_card ? " alike" : "");
    return fmt::format("{},{},{},{}", label("vram_gib_min", std::to_string(group.vram_min.count)), label("gpus", gpus),
                       label("platforms", platforms), label("version", version)) +
           (group.gang_size > 1 ? "," + label("gang", gang) : std::string{});
}

/// Writes what events tell, without the choices that only a trace sees.
inline void write_events(Exposition& out, const allot::Metrics& m) {
    out.family("allot_events_total", "counter", "Events, by type.");
    const auto events = names_of(std::type_identity<allot::Event::Alternatives>{});
    for (std::size_t i = 0; i < events.size(); ++i) { out.sample(m.events[i], label("event", events[i])); }
    out.family("allot_refusals_total", "counter", "Commands refused, by error.");
    for (const auto& [error, count] : m.refusals) { out.sample(count, label("error", allot::enumerator_name(error))); }
}

/// Writes the choices that a trace saw.
inline void write_choices(Exposition& out, const allot::Metrics& m) {
    out.family("allot_choices_total", "counter", "Choices, by kind.");
    for (const auto kind : allot::enumerators<allot::DecisionKind>()) {
        out.sample(m.choices[static_cast<std::size_t>(kind)], label("kind", allot::enumerator_name(kind)));
    }
    out.one("allot_draw_rejections_total", "counter", "Tries of draws that hit no one.", m.rejections);
    out.one("allot_draw_scans_total", "counter", "Draws that an exact scan decided.", m.scans);
    out.one("allot_draws_undecided_total", "counter", "Draws for a task that found no node within their tries.",
            m.undecided);
    out.family("allot_walks_cut_total", "counter", "Pulls and matches that met the bound of tasks tried in vain.");
    for (const auto walk : allot::enumerators<allot::Walk>()) {
        out.sample(m.cuts[static_cast<std::size_t>(walk)], label("walk", allot::enumerator_name(walk)));
    }
    out.one("allot_draw_weights_above_bound_total", "counter",
            "Weights above their bounds: the weight policy breaks its law.", m.above_bound);
    out.one("allot_bound_renewals_total", "counter",
            "Renewals of the bounds of draws, after large changes of the largest stake.", m.renewals);
}

/// Writes the state of the network.
inline void write_state(Exposition& out, const allot::Metrics& m) {
    out.one("allot_explanations_total", "counter", "Explanations given.", m.explanations);
    out.family("allot_task_wait_seconds", "histogram", "Time from the submission of a task to its first start.");
    write_histogram(out, m.waits);
    out.one("allot_tasks_queued", "gauge", "Tasks that wait.", m.queued);
    out.one("allot_queue_capacity", "gauge", "Tasks that may wait.", m.queue_capacity);
    out.family("allot_group_tasks_queued", "gauge", "Tasks that wait, by what they ask for; groups with demand.");
    for (const auto& [group, count] : m.queued_by_group) { out.sample(count, labels_of(group)); }
    out.family("allot_nodes", "gauge", "Nodes that have not left, by state.");
    for (std::size_t i = 0; i < m.nodes.size(); ++i) {
        out.sample(m.nodes[i], label("state", allot::enumerator_name(static_cast<allot::NodeState>(i))));
    }
    out.one("allot_nodes_excluded", "gauge", "Of these, nodes kept out until their health recovers.", m.excluded);
    out.one("allot_leases", "gauge", "Leases that run.", m.leases);
    out.one("allot_work_jain_ratio", "gauge", "Jain's index of the tasks done by each node; 1 when all did as many.",
            ratio(m.jain));
    out.one("allot_work_top1_ratio", "gauge", "Part of the tasks done that the busiest node did.", ratio(m.top_1));
}

/// All figures of a network as one text.
inline auto to_prometheus(const allot::Metrics& m) -> std::string {
    auto out = Exposition{};
    write_events(out, m);
    write_choices(out, m);
    write_state(out, m);
    return out.text();
}

}  // namespace metrics
