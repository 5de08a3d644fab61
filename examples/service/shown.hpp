#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <allot/dispatcher/look.hpp>
#include <allot/json.hpp>
#include <allot/replica/effects.hpp>

#include "engine.hpp"

namespace service {

// JSON of nodes, tasks and replies.

inline auto hex_of(const allot::Hash256& hash) -> std::string { return allot::Id<struct HashTag>{hash}.hex(); }

/// The answer to a request, a registration or commands of the operator.
inline auto answer(const allot::Reply& reply) -> Answer {
    using allot::Verdict;
    const auto refuse = [&](unsigned status, unsigned retry_after_s = 0) {
        return Answer{Problem{status, std::string{allot::enumerator_name(reply.verdict)},
                              std::string{message(reply.verdict)}, retry_after_s},
                      {}};
    };
    switch (reply.verdict) {
        case Verdict::stale:
        case Verdict::gap: return refuse(409);
        case Verdict::session_unknown: return refuse(410);
        case Verdict::operators_only: return refuse(403);
        case Verdict::too_many_commands: return refuse(413);
        case Verdict::session_taken: return refuse(409);
        case Verdict::sessions_full: return refuse(503, 60);
        case Verdict::not_begun: return refuse(503, 1);
        case Verdict::id_invalid:
        case Verdict::parameter_invalid: return refuse(422);
        case Verdict::applied:
        case Verdict::duplicate:
        case Verdict::registered: break;
    }
    auto out = allot::Json::object();
    out["index"] = reply.index;
    out["answer"] = allot::enumerator_name(reply.verdict);
    if (reply.verdict == Verdict::registered) {
        out["session"] = reply.session.hex();
        out["seq"] = reply.seq + 1;
        return {{}, std::move(out)};
    }
    auto& results = out["results"] = allot::Json::array();
    for (const auto& error : reply.answers) {
        auto result = allot::Json::object();
        result["accepted"] = !error;
        if (error) {
            result["error"] = allot::enumerator_name(*error);
            result["detail"] = message(*error);
        }
        results.push_back(std::move(result));
    }
    return {{}, std::move(out)};
}

template <class T>
auto explained(const allot::Result<T>& result) -> Answer {
    if (result) { return {{}, allot::json_of(*result)}; }
    return {Problem{404, std::string{allot::enumerator_name(result.error())}, std::string{message(result.error())}},
            {}};
}

inline auto json_of_node(const allot::NodeView& v) -> allot::Json {
    auto out = allot::Json::object();
    out["id"] = allot::json_of(v.id);
    out["operator_id"] = allot::json_of(v.operator_id);
    out["state"] = allot::json_of(v.state);
    out["excluded"] = v.excluded;
    out["gpu"] = allot::json_of(std::string{v.gpu});
    out["vram"] = v.vram.count;
    out["platform"] = allot::json_of(std::string{v.platform});
    out["stake"] = allot::json_of(v.stake);
    out["score_permille"] = v.score_permille;
    auto& models = out["models"] = allot::Json::array();
    for (const auto& model : v.models) {
        models.push_back(
            {{"name", allot::json_of(std::string{model.name})}, {"holding", allot::json_of(model.holding)}});
    }
    out["lease"] = allot::json_of(v.lease);
    return out;
}
inline auto json_of_task(const allot::TaskView& v) -> allot::Json {
    auto out = allot::Json::object();
    out["id"] = allot::json_of(v.id);
    out["state"] = allot::json_of(v.state);
    out["due_at"] = allot::json_of(v.due_at);
    if (v.end) {
        out["end"] = {{"ending", allot::json_of(v.end->ending)},
                      {"cause", allot::json_of(v.end->cause)},
                      {"node", allot::json_of(v.end->node)}};
        return out;
    }
    out["owner"] = allot::json_of(v.owner);
    out["fee"] = allot::json_of(v.fee);
    out["duration_estimate"] = allot::json_of(v.duration_estimate);
    out["submitted_at"] = allot::json_of(v.submitted_at);
    out["attempts"] = v.attempts;
    out["leases"] = allot::json_of(v.leases);
    return out;
}

/// Number of records that one page may look at.
inline constexpr auto looked_max = std::size_t{100'000};

/// Calls `f(handle)` for records from the cursor on, until it was true `limit` times. Returns the next cursor.
template <class Table, class F>
auto each_from(const Table& table, std::uint64_t cursor, std::size_t limit, F&& f) -> std::optional<std::uint64_t> {
    auto looked = std::size_t{0};
    for (; cursor < table.reach(); ++cursor) {
        if (limit == 0 || ++looked > looked_max) { return cursor; }
        const auto h = typename Table::handle_type{static_cast<std::uint32_t>(cursor)};
        if (table.contains(h) && f(h)) { --limit; }
    }
    return std::nullopt;
}

}  // namespace service
