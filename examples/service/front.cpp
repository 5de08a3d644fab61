#include "front.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include <boost/asio/ip/address.hpp>

#include <allot/core/u128.hpp>
#include <allot/json.hpp>

#include "embedded.hpp"

namespace service {

namespace {

constexpr auto limit_default = std::uint64_t{50};
constexpr auto limit_max = std::uint64_t{500};
constexpr auto streams_max = std::uint32_t{16};  // of a node's or an owner's client
constexpr auto operator_streams_max = std::uint32_t{12'000};
constexpr auto backlog_max = std::size_t{1} << 18U;
const auto bad_id = Problem{400, "id", "an id is a number, 1 to 32 bytes of text, or 64 hex digits"};

auto percent_decoded(std::string_view text) -> std::optional<std::string> {
    auto out = std::string{};
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        auto byte = 0U;
        const auto digits = text.substr(i + 1, 2);
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
        if (digits.size() != 2 || read.ec != std::errc{} || read.ptr != digits.data() + 2) { return std::nullopt; }
        out += static_cast<char>(byte);
        i += 2;
    }
    return out;
}

/// An id as in JSON: a whole number, 1 to 32 bytes of text, or 64 hex digits. Text may stand in quotes, as in JSON, so
/// that "42" is no number.
template <class Id>
auto id_from(std::string_view text) -> std::optional<Id> {
    if (text.size() > 2 && text.front() == '"' && text.back() == '"') {
        const auto id = Id{text.substr(1, text.size() - 2)};
        return id.is_null() ? std::nullopt : std::optional{id};
    }
    if (const auto number = allot::parse_decimal(text); number && *number <= allot::u128{~std::uint64_t{0}}) {
        return Id{number->low()};
    }
    if (const auto hex = Id::from_hex(text)) { return hex->is_null() ? std::nullopt : hex; }
    const auto id = Id{text};
    return id.is_null() ? std::nullopt : std::optional{id};
}

/// True if the request names this machine, and no page of another site sent it: a name that an attacker made lead here
/// must not make a browser the operator.
auto is_local(const HttpRequest& request) -> bool {
    auto host = std::string_view{request.host};
    if (!host.ends_with(']')) { host = host.substr(0, host.rfind(':')); }
    if (host.starts_with('[') && host.ends_with(']')) { host = host.substr(1, host.size() - 2); }
    auto error = boost::system::error_code{};
    const auto address = boost::asio::ip::make_address(host, error);
    const auto is_here = host == "localhost" || (!error && address.is_loopback());
    return is_here && (request.origin.empty() || request.origin == "http://" + request.host ||
                       request.origin == "https://" + request.host);
}

auto number_from(std::string_view text) -> std::optional<std::uint64_t> {
    auto number = std::uint64_t{0};
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    return read.ec == std::errc{} && read.ptr == end && !text.empty() ? std::optional{number} : std::nullopt;
}

auto state_from(std::string_view text) -> std::optional<allot::TaskState> {
    for (const auto state : {allot::TaskState::queued, allot::TaskState::held, allot::TaskState::running}) {
        if (text == allot::enumerator_name(state)) { return state; }
    }
    return std::nullopt;
}

auto segments_of(std::string_view path) -> std::vector<std::string_view> {
    auto out = std::vector<std::string_view>{};
    for (path.remove_prefix(std::min<std::size_t>(path.size(), 1)); !path.empty();) {
        const auto end = std::min(path.find('/'), path.size());
        out.push_back(path.substr(0, end));
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return out;
}

/// The segment that stands for {id}; empty if there is none. None if the path is not the route's.
auto matched(std::string_view path, std::string_view route) -> std::optional<std::string_view> {
    const auto given = segments_of(path);
    const auto wanted = segments_of(route);
    if (given.size() != wanted.size()) { return std::nullopt; }
    auto id = std::string_view{};
    for (std::size_t i = 0; i < given.size(); ++i) {
        if (wanted[i] == "{id}") {
            id = given[i];
        } else if (given[i] != wanted[i]) {
            return std::nullopt;
        }
    }
    return id;
}

auto ok(const allot::Json& json) -> HttpResponse {
    auto out = HttpResponse{};
    out.body = allot::json_text(json) + '\n';
    return out;
}

auto is_binary(const HttpRequest& request) -> bool { return request.content_type == "application/x-allot"; }

auto of(const Answer& answer) -> HttpResponse {
    return answer.problem ? Front::problem(*answer.problem) : ok(answer.json);
}

}  // namespace

struct Front::Call {
    const HttpRequest& request;
    const Route& route;
    std::string id;
    std::map<std::string, std::string, std::less<>> query;
    Client& client;

    [[nodiscard]] auto value(std::string_view name) const -> std::string_view {
        const auto found = query.find(name);
        return found == query.end() ? std::string_view{} : std::string_view{found->second};
    }
};

auto routes() -> const std::vector<Route>& {
    static const auto all = std::vector<Route>{
        {"POST", "/v1/sessions", false, 5},
        {"POST", "/v1/requests", false, 1},
        {"GET", "/v1/nodes", false, 5},
        {"GET", "/v1/nodes/{id}", false, 1},
        {"GET", "/v1/nodes/{id}/events", false, 5},
        {"GET", "/v1/owners/{id}/events", false, 5},
        {"GET", "/v1/tasks", false, 5},
        {"GET", "/v1/tasks/{id}", false, 1},
        {"GET", "/v1/events", false, 5},
        {"GET", "/v1/explain/task/{id}", false, 50},
        {"GET", "/v1/explain/node/{id}", false, 50},
        {"GET", "/v1/probabilities/task/{id}", false, 50},
        {"GET", "/v1/status", true, 0},
        {"GET", "/v1/root", false, 50},
        {"GET", "/v1/openapi.json", true, 0},
        {"GET", "/metrics", true, 0},
        {"GET", "/", true, 0},
    };
    return all;
}

auto Front::problem(const Problem& problem) -> HttpResponse {
    auto out = HttpResponse{};
    out.status = problem.status;
    out.content_type = "application/problem+json";
    out.body = allot::json_text(problem.json()) + '\n';
    out.retry_after_s = problem.retry_after_s;
    return out;
}

void Front::handle(const HttpRequest& request, std::int64_t now_ms, Respond respond) {
    const auto mark = request.target.find('?');
    const auto path = std::string_view{request.target}.substr(0, mark);
    const Route* route = nullptr;
    auto id = std::string_view{};
    auto allow = std::string{};
    for (const auto& one : routes()) {
        const auto match = matched(path, one.path);
        if (!match) { continue; }
        (allow += allow.empty() ? "" : ", ") += one.method;
        if (one.method == request.method) {
            route = &one;
            id = *match;
        }
    }
    if (route == nullptr) {
        auto out = problem(allow.empty() ? Problem{404, "no_route", "see /v1/openapi.json for all routes"}
                                         : Problem{405, "method", "this address takes " + allow});
        out.allow = allow;
        return respond(std::move(out));
    }
    if (clients_.is_open() && !is_local(request)) {
        return respond(problem({403, "host",
                                "without --clients the service answers to localhost, 127.0.0.1 and [::1] alone, and to "
                                "no page of another site"}));
    }
    static auto nobody = Client{};
    auto* client = &nobody;
    if (!route->is_public) {
        auto why = Problem{};
        client = clients_.authenticate({request.method, request.target, request.client, request.time, request.session,
                                        request.seq, request.body, request.signature},
                                       now_ms, why);
        if (client == nullptr) { return respond(problem(why)); }
        // A command costs a token, and so do 256 bytes. A binary list that tells a false number is not read.
        const auto told = is_binary(request)
                              ? std::min<std::size_t>(commands_told(request.body), request.body.size())
                              : static_cast<std::size_t>(std::count(request.body.begin(), request.body.end(), '\n'));
        const auto commands = std::max(told, request.body.size() / 256);
        if (const auto wait_s = client->take(route->cost + static_cast<std::uint32_t>(commands), now_ms)) {
            return respond(problem({429, "rate", "too many requests of this client; slow down", wait_s}));
        }
    }
    if (const auto fault = engine_.fault(); !route->is_public && !fault.empty()) {
        return respond(problem({503, "log_failed", fault, 5}));
    }
    if (!route->is_public && engine_.is_behind()) {
        return respond(problem({503, "catching_up", "this replica reads the log; ask another one, or later", 1}));
    }
    auto call = Call{request, *route, {}, {}, *client};
    auto decoded = percent_decoded(id);
    for (auto rest = mark == std::string::npos ? std::string_view{} : std::string_view{request.target}.substr(mark + 1);
         decoded && !rest.empty();) {
        const auto end = std::min(rest.find('&'), rest.size());
        const auto pair = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        const auto equals = std::min(pair.find('='), pair.size());
        auto value = percent_decoded(pair.substr(std::min(equals + 1, pair.size())));
        if (!value) { decoded.reset(); }
        call.query[std::string{pair.substr(0, equals)}] = value.value_or("");
    }
    if (!decoded) { return respond(problem({400, "malformed", "a % in the address has no two hex digits behind it"})); }
    call.id = *std::move(decoded);
    dispatch(call, respond);
}

void Front::dispatch(const Call& call, const Respond& respond) {
    const auto path = call.route.path;
    const auto with = [&]<class Id>(std::optional<Id> id, auto&& f) { respond(id ? f(*id) : problem(bad_id)); };
    const auto node = [&] { return id_from<allot::NodeId>(call.id); };
    const auto task = [&] { return id_from<allot::TaskId>(call.id); };
    const auto page = [&](auto&& read) {
        const auto cursor =
            call.value("cursor").empty() ? std::optional<std::uint64_t>{0} : number_from(call.value("cursor"));
        const auto limit =
            call.value("limit").empty() ? std::optional{limit_default} : number_from(call.value("limit"));
        if (!cursor || !limit || *limit == 0) {
            return respond(problem({400, "cursor", "cursor and limit are whole numbers; limit is 1 to 500"}));
        }
        auto read_page = read(*cursor, static_cast<std::size_t>(std::min(*limit, limit_max)));
        auto json = allot::Json::object();
        json["items"] = std::move(read_page.items);
        json["next"] = read_page.next ? allot::Json(*read_page.next) : allot::Json();
        respond(ok(json));
    };
    if (call.route.method == "POST") { return post(call, respond); }
    if (path == "/v1/nodes") {
        return page([&](auto cursor, auto limit) { return engine_.nodes(cursor, limit); });
    }
    if (path == "/v1/tasks") {
        const auto state = state_from(call.value("state"));
        if (!state && !call.value("state").empty()) {
            return respond(problem({400, "state", "state is queued, held or running"}));
        }
        return page([&](auto cursor, auto limit) { return engine_.tasks(cursor, limit, state); });
    }
    if (path == "/v1/nodes/{id}") {
        return with(node(), [&](const auto& id) { return of(engine_.node(id)); });
    }
    if (path == "/v1/tasks/{id}") {
        return with(task(), [&](const auto& id) { return of(engine_.task(id)); });
    }
    if (path == "/v1/nodes/{id}/events") {
        return with(node(), [&](const auto& id) { return stream(call, {id, {}}); });
    }
    if (path == "/v1/owners/{id}/events") {
        return with(id_from<allot::OwnerId>(call.id), [&](const auto& id) { return stream(call, {{}, id}); });
    }
    if (path == "/v1/explain/task/{id}") {
        return with(task(), [&](const auto& id) { return of(engine_.explain_task(id)); });
    }
    if (path == "/v1/explain/node/{id}") {
        return with(node(), [&](const auto& id) { return of(engine_.explain_node(id)); });
    }
    if (path == "/v1/probabilities/task/{id}") {
        return with(task(), [&](const auto& id) { return of(engine_.probabilities(id)); });
    }
    if (path == "/v1/events") { return respond(events(call)); }
    if (path == "/v1/status") { return respond(ok(engine_.status())); }
    if (path == "/v1/root") { return respond(ok(engine_.root())); }
    auto out = HttpResponse{};
    if (path == "/metrics") {
        out.content_type = "text/plain; version=0.0.4";
        out.body = engine_.metrics();
    } else if (path == "/v1/openapi.json") {
        out.body = embedded::openapi;
    } else {
        out.content_type = "text/html; charset=utf-8";
        out.body = embedded::page;
    }
    respond(std::move(out));
}

void Front::post(const Call& call, const Respond& respond) {
    const auto& request = call.request;
    const auto done = [respond](const Answer& answer) { respond(of(answer)); };
    const auto is_json = request.content_type.empty() || request.content_type.starts_with("application/json") ||
                         request.content_type.starts_with("application/jsonl");
    const auto is_request = call.route.path == "/v1/requests";
    if (is_request && !is_binary(request) && !is_json) {
        return respond(
            problem({415, "content_type", "send application/json, one command a line, or application/x-allot"}));
    }
    const auto seq = number_from(request.seq);
    if (is_request && (!seq || *seq == 0)) {
        return respond(
            problem({400, "seq", "Allot-Seq is the number of the request; POST /v1/sessions tells the first"}));
    }
    if (is_request && request.session == "operator") {
        if (!call.client.is_operator()) {
            return respond(problem({403, "operators_only", "only a client with the role op may do this"}));
        }
        return engine_.operate(*seq, request.body, is_binary(request), done);
    }
    const auto session = allot::SessionId::from_hex(request.session);
    if (!session || session->is_null()) {
        return respond(problem({400, "session", "Allot-Session is 64 hex digits, drawn at random by the client"}));
    }
    if (!is_request) { return engine_.open_session(call.client, *session, done); }
    engine_.request(call.client, *session, *seq, request.body, is_binary(request), request.signature, done);
}

namespace {

/// A client that is no operator hears of its own node or owner alone.
auto is_own(const Client& client, const EventFilter& filter) -> bool {
    if (client.is_operator()) { return true; }
    return client.line.role == Role::node ? filter.node == client.line.node && !filter.owner
                                          : filter.owner == client.line.owner && !filter.node;
}

const auto not_own = Problem{403, "foreign", "ask for the events of this client's own node or owner"};

auto forgotten(const EventLog& log) -> Problem {
    return {410, "events_forgotten",
            "read the state of nodes and tasks again, then go on from event " +
                std::to_string(std::max(log.first(), log.next()))};
}

}  // namespace

auto Front::events(const Call& call) -> HttpResponse {
    auto filter = EventFilter{};
    if (!call.value("node").empty()) { filter.node = id_from<allot::NodeId>(call.value("node")); }
    if (!call.value("owner").empty()) { filter.owner = id_from<allot::OwnerId>(call.value("owner")); }
    if (filter.node.has_value() == call.value("node").empty() ||
        filter.owner.has_value() == call.value("owner").empty()) {
        return problem(bad_id);
    }
    if (!call.client.is_operator() && !filter.node && !filter.owner) {
        filter = {call.client.line.node, call.client.line.owner};
    }
    if (!is_own(call.client, filter)) { return problem(not_own); }
    const auto& log = engine_.events();
    const auto start = call.value("start").empty() ? std::optional{log.first()} : number_from(call.value("start"));
    const auto limit = call.value("limit").empty() ? std::optional{limit_default} : number_from(call.value("limit"));
    if (!start || !limit || *limit == 0) {
        return problem({400, "cursor", "start and limit are whole numbers; limit is 1 to 500"});
    }
    if (*start < log.first()) { return problem(forgotten(log)); }
    auto json = allot::Json::object();
    auto& items = json["items"] = allot::Json::array();
    auto next = std::max(*start, log.next());
    log.each(*start, filter, [&](const LoggedEvent& event) {
        if (items.size() == std::min(*limit, limit_max)) {
            next = event.id;
            return false;
        }
        auto item = allot::json_of(event.event);
        item["id"] = event.id;
        items.push_back(std::move(item));
        return true;
    });
    json["next"] = next;
    return ok(json);
}

auto Front::stream(const Call& call, EventFilter filter) -> HttpResponse {
    if (!is_own(call.client, filter)) { return problem(not_own); }
    if (call.client.streams >= (call.client.is_operator() ? operator_streams_max : streams_max)) {
        return problem({429, "streams", "this client has too many streams open; close some", 10});
    }
    const auto& log = engine_.events();
    // A stream begins after the last event that was seen, or at `start`, or now.
    auto start = std::optional{log.next()};
    if (!call.request.last_id.empty()) {
        start = number_from(call.request.last_id);
        if (start) { ++*start; }
    } else if (!call.value("start").empty()) {
        start = number_from(call.value("start"));
    }
    if (!start) { return problem({400, "cursor", "Last-Event-ID and start are whole numbers"}); }
    if (*start < log.first()) { return problem(forgotten(log)); }
    auto out = HttpResponse{};
    out.stream.emplace();
    out.stream->filter = filter;
    out.stream->client = &call.client;
    out.stream->next = std::max(*start, log.next());
    auto& backlog = out.stream->backlog = ": events of allot\n\n";
    log.each(*start, filter, [&](const LoggedEvent& event) {
        backlog += sse_text(event);
        return backlog.size() < backlog_max;
    });
    if (backlog.size() >= backlog_max) {
        return problem({410, "events_too_many", "read /v1/events page by page first, or the state again"});
    }
    return out;
}

}  // namespace service
