#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clients.hpp"
#include "engine.hpp"
#include "events.hpp"
#include "problem.hpp"

namespace service {

/// A request as the server read it.
struct HttpRequest {
    std::string method{};
    std::string target{};
    std::string body{};
    std::string content_type{};
    std::string client{};     ///< Header Allot-Client.
    std::string time{};       ///< Allot-Time.
    std::string signature{};  ///< Allot-Signature.
    std::string session{};    ///< Allot-Session.
    std::string seq{};        ///< Allot-Seq.
    std::string last_id{};    ///< Last-Event-ID.
    std::string host{};       ///< Host.
    std::string origin{};     ///< Origin, which browsers send.
};

/// A stream that the server is to open: the events so far, then those to come.
struct StreamStart {
    EventFilter filter{};
    std::uint64_t next = 0;  ///< The id from which events are still to be sent.
    std::string backlog{};
    Client* client = nullptr;
};

struct HttpResponse {
    unsigned status = 200;
    std::string content_type = "application/json";
    std::string body{};
    unsigned retry_after_s = 0;
    std::string allow{};  ///< Of 405.
    std::optional<StreamStart> stream{};
};
using Respond = std::function<void(HttpResponse)>;

/// One line of the table of routes.
struct Route {
    std::string_view method;
    std::string_view path;  ///< `{id}` stands for one segment.
    bool is_public;         ///< Needs no signature.
    std::uint32_t cost;     ///< In tokens.
};
[[nodiscard]] auto routes() -> const std::vector<Route>&;

/// Turns requests into calls of the engine, and its answers into JSON.
class Front {
public:
    Front(Engine& engine, Clients& clients) : engine_{engine}, clients_{clients} {}

    /// `respond` is called now, or once the log has the request.
    void handle(const HttpRequest& request, std::int64_t now_ms, Respond respond);
    static auto problem(const Problem& problem) -> HttpResponse;

private:
    struct Call;
    void dispatch(const Call& call, const Respond& respond);
    void post(const Call& call, const Respond& respond);
    auto events(const Call& call) -> HttpResponse;
    auto stream(const Call& call, EventFilter filter) -> HttpResponse;

    Engine& engine_;
    Clients& clients_;
};

}  // namespace service
