#pragma once

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <allot/allot.hpp>
#include <allot/explain/expected_wait.hpp>
#include <allot/explain/probabilities.hpp>
#include <allot/journal/encode.hpp>
#include <allot/journal/snapshot.hpp>
#include <allot/json.hpp>

#include "network.hpp"

namespace simulate {
namespace detail {

template <class Role>
[[nodiscard]] constexpr auto role_name() -> std::string_view {
    namespace role = allot::role;
    if constexpr (std::is_same_v<Role, role::eligibility>) { return "eligibility"; }
    if constexpr (std::is_same_v<Role, role::weight>) { return "weight"; }
    if constexpr (std::is_same_v<Role, role::pool>) { return "pool"; }
    if constexpr (std::is_same_v<Role, role::queue>) { return "queue"; }
    if constexpr (std::is_same_v<Role, role::qos>) { return "qos"; }
    if constexpr (std::is_same_v<Role, role::valuation>) { return "valuation"; }
    if constexpr (std::is_same_v<Role, role::placement>) { return "placement"; }
    if constexpr (std::is_same_v<Role, role::terms>) { return "terms"; }
    if constexpr (std::is_same_v<Role, role::rules>) { return "rules"; }
    return "";
}

/// Calls `f(policy)` for a policy with parameters, or for each part that has some.
template <class P, class F>
void each_with_parameters(P& policy, const F& f) {
    if constexpr (allot::detail::configurable<P>) {
        f(policy);
    } else if constexpr (allot::detail::has_parts<P>) {
        allot::detail::each_part(policy, [&](auto& part) { each_with_parameters(part, f); });
    }
}

}  // namespace detail

/// A network whose decisions a dispatcher makes.
template <class Dispatcher>
class NetworkOf final : public Network {
public:
    explicit NetworkOf(Dispatcher dispatcher) : dispatcher_{std::move(dispatcher)} {}

    auto apply(const Verb& verb, const allot::Moment& moment) -> allot::Events override {
        auto entry = Entry{moment, std::visit([](const auto& one) { return Command{one}; }, verb)};
        if (log_.is_open()) { log_ << allot::write_json(entry) << '\n'; }
        return dispatcher_.apply(std::move(entry.command), moment);
    }

    auto configured() const -> std::size_t override { return configured_.size(); }
    void keep_log(const std::string& path) override {
        log_path_ = path;
        log_.open(path, std::ios::binary);
        // The parameters of this network differ from the preset's; whoever replays the log sets them first.
        for (const auto& [type, fields] : configured_) {
            const auto line = allot::Json{{"time", 0}, {"command", "Configure"}, {"parameters", {{type, fields}}}};
            log_ << allot::json_text(line) << '\n';
        }
        if (!log_) { throw std::runtime_error{path + ": cannot be written"}; }
    }
    void close_log() override {
        if (!log_.is_open()) { return; }
        log_.close();
        if (!log_) { throw std::runtime_error{log_path_ + ": cannot be written"}; }
    }

    auto foresee(std::span<const std::pair<Verb, allot::Moment>> commands) -> allot::Events override {
        auto session = dispatcher_.session();
        auto events = allot::Events{};
        for (const auto& [verb, moment] : commands) {
            const auto give = [&](const auto& command) {
                dispatcher_.apply(typename Dispatcher::Command{command}, moment, events);
            };
            std::visit(give, verb);
        }
        session.rollback();
        return events;
    }
    auto weights(const allot::TaskSpec& task) const -> std::vector<std::pair<allot::NodeId, allot::u128>> override {
        const auto found = allot::probabilities(dispatcher_, task);
        if (!found) { throw std::invalid_argument{"no draw: " + std::string{allot::message(found.error())}}; }
        auto all = std::vector<std::pair<allot::NodeId, allot::u128>>{};
        for (const auto& [node, weight] : found->nodes) { all.emplace_back(node, weight); }
        return all;
    }
    auto fee_min(const allot::TaskSpec& task) const -> allot::Amount override {
        return dispatcher_.view().fee_min(task);
    }
    auto draw_among() const -> std::uint32_t override { return dispatcher_.rules()->draw_among; }

    void set(const std::vector<std::string>& settings) override {
        for (const auto& setting : settings) { set_one(setting); }
    }

    auto parameters() -> std::vector<Parameter> override {
        auto all = std::vector<Parameter>{};
        each([&](auto& policy) {
            const auto fields = allot::json_of(policy.parameters());
            for (const auto& [name, value] : fields.items()) {
                all.push_back({std::string{role_of(policy)}, std::string{type_of(policy)}, name, value.dump()});
            }
        });
        return all;
    }

    auto next_deadline_ms() const -> std::optional<std::int64_t> override {
        const auto deadline = dispatcher_.next_deadline();
        return deadline ? std::optional{deadline->time_since_epoch().count()} : std::nullopt;
    }
    auto queue_capacity() const -> std::uint32_t override { return dispatcher_.queue_capacity(); }
    auto state_bytes() const -> std::uint64_t override {
        auto later = dispatcher_;
        for (auto due = later.next_deadline(); due; due = later.next_deadline()) {
            (void)later.apply(typename Dispatcher::Command{allot::command::Advance{}}, allot::Moment{*due});
        }
        return allot::snapshot(later, 0).size();
    }

    auto quality(const allot::NodeId& node, allot::TimePoint time) const -> Quality override {
        const auto& qos = dispatcher_.qos();
        const auto& data = dispatcher_.node(node)->qos;
        auto quality = Quality{};
        if constexpr (requires { qos.health(data, time); }) { quality.health = fraction(qos.health(data, time)); }
        if constexpr (requires { qos.long_term(data); }) {
            quality.long_score = fraction(qos.long_term(data)) * qos.points_max();
        }
        quality.score = fraction(qos.score(data, time));
        return quality;
    }
    auto points_max() const -> std::uint32_t override { return dispatcher_.qos().points_max(); }

    auto expected_wait_ms(const allot::TaskId& task) const -> std::optional<std::int64_t> override {
        const auto* record = dispatcher_.task(task);  // the command that queued it may have ended it, too
        if (record == nullptr || record->state != allot::TaskState::queued) { return std::nullopt; }
        const auto wait = allot::expected_wait(dispatcher_, task).value();
        return wait ? std::optional{wait->count()} : std::nullopt;
    }

private:
    using Command = typename Dispatcher::Command;
    using Entry = allot::LogEntry<Command>;

    template <class Policy>
    static constexpr auto role_of(const Policy&) -> std::string_view {
        return detail::role_name<typename Policy::role>();
    }
    template <class Policy>
    static constexpr auto type_of(const Policy&) -> std::string_view {
        return allot::type_name<typename Policy::Parameters>();
    }
    template <class F>
    void each(const F& f) {
        dispatcher_.configure_each([&](auto& policy) { detail::each_with_parameters(policy, f); });
    }
    static auto fraction(allot::Score score) -> double {
        return static_cast<double>(score.raw()) / static_cast<double>(allot::Score::one().raw());
    }

    void set_one(const std::string& setting) {
        const auto equals = setting.find('=');
        const auto dot = setting.rfind('.', equals);
        if (equals == std::string::npos || dot == std::string::npos) {
            throw std::invalid_argument{"--set " + setting + ": expected POLICY.NAME=VALUE, such as qos.window=30"};
        }
        const auto policy_name = setting.substr(0, dot);
        const auto name = setting.substr(dot + 1, equals - dot - 1);
        auto found = false;
        each([&](auto& policy) {
            const auto type = type_of(policy);
            auto fields = allot::json_of(policy.parameters());
            const auto named =
                policy_name == role_of(policy) || policy_name == type || policy_name + "Parameters" == type;
            if (found || !named || !fields.contains(name)) { return; }
            found = true;
            fields[name] = value_of(setting.substr(equals + 1));
            const auto read =
                allot::read_json<typename std::remove_cvref_t<decltype(policy)>::Parameters>(fields.dump());
            if (!read) { throw std::invalid_argument{"--set " + setting + ": " + read.error().message()}; }
            if (const auto* fault = allot::detail::parameter_fault(*read)) {
                throw std::invalid_argument{"--set " + setting + ": " + fault};
            }
            policy.configure(*read);
            configured_[std::string{type}] = std::move(fields);
        });
        if (!found) {
            throw std::invalid_argument{"--set " + setting + ": there is no such parameter; there are " + names()};
        }
    }
    /// A number or true and false as such; anything else, such as 3/10, is a text.
    static auto value_of(const std::string& text) -> allot::Json {
        auto value = allot::Json::parse(text, nullptr, false);
        return value.is_discarded() ? allot::Json(text) : value;
    }
    auto names() -> std::string {
        auto all = std::string{};
        for (const auto& one : parameters()) { all += (all.empty() ? "" : ", ") + one.role + "." + one.name; }
        return all;
    }

    Dispatcher dispatcher_;
    std::map<std::string, allot::Json> configured_{};  ///< Parameters that were set, by the type that holds them.
    std::ofstream log_{};
    std::string log_path_{};
};

}  // namespace simulate
