// Files of the service, which is a program and no library.
#include "../examples/service/front.cpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <allot/json.hpp>

#include "../examples/service/clients.cpp"
#include "../examples/service/events.cpp"
#include "../examples/service/http_request.hpp"
#include "fuzz/support/target.hpp"

namespace service::embedded {

const std::string_view page = "<html>";
const std::string_view openapi = "{}";

}  // namespace service::embedded

namespace fuzz_front {

namespace {

// Answers at once and knows nothing.
class QuietEngine final : public service::Engine {
public:
    void request(const service::Client&, const allot::SessionId&, std::uint64_t, std::string_view, bool,
                 std::string_view, service::Done done) override {
        done({});
    }
    void operate(std::uint64_t, std::string_view, bool, service::Done done) override { done({}); }
    void open_session(const service::Client&, const allot::SessionId&, service::Done done) override { done({}); }
    auto has_work() const -> bool override { return false; }
    auto turn(allot::TimePoint) -> bool override { return true; }
    void tick(allot::TimePoint) override {}
    void stop() override {}
    auto fault() const -> std::string override { return {}; }
    auto node(const allot::NodeId&) -> service::Answer override { return {}; }
    auto task(const allot::TaskId&) -> service::Answer override { return {}; }
    auto nodes(std::uint64_t, std::size_t limit) -> service::Page override { return page(limit); }
    auto tasks(std::uint64_t, std::size_t limit, std::optional<allot::TaskState>) -> service::Page override {
        return page(limit);
    }
    auto explain_node(const allot::NodeId&) -> service::Answer override { return {}; }
    auto explain_task(const allot::TaskId&) -> service::Answer override { return {}; }
    auto probabilities(const allot::TaskId&) -> service::Answer override { return {}; }
    auto status() -> allot::Json override { return allot::Json::object(); }
    auto root() -> allot::Json override { return allot::Json::object(); }
    auto metrics() -> std::string override { return {}; }
    auto events() -> service::EventLog& override { return log_; }

private:
    static auto page(std::size_t limit) -> service::Page {
        fuzz::ensure(limit > 0 && limit <= 500, "a page has 1 to 500 items");
        return {};
    }
    service::EventLog log_{16};
};

constexpr auto now_ms = std::int64_t{1'800'000'000'000};

// Bytes as a connection brings them: requests one after the other, to a service that all may use and to one for
// members.
auto target(std::span<const std::uint8_t> input) -> bool {
    namespace http = boost::beast::http;
    auto engine = QuietEngine{};
    auto open = service::Clients{};
    auto members =
        service::Clients::read(R"({"client":"n7","secret":"a secret of sixteen","role":"node","node":"n7"})");
    auto taken = false;
    while (!input.empty()) {
        auto parser = http::request_parser<http::string_body>{};
        parser.header_limit(8'192);
        parser.body_limit(std::uint64_t{1} << 20U);
        parser.eager(true);
        auto error = boost::system::error_code{};
        const auto used = parser.put(boost::asio::buffer(input.data(), input.size()), error);
        if (error || !parser.is_done()) { return taken; }
        input = input.subspan(used);
        const auto request = service::request_of(parser.release());
        for (auto* clients : {&open, &*members}) {
            auto answers = 0;
            service::Front{engine, *clients}.handle(request, now_ms, [&](const service::HttpResponse& response) {
                ++answers;
                fuzz::ensure(response.status >= 200 && response.status < 600, "an answer has a status");
                fuzz::ensure(!response.stream || response.status == 200, "a stream is no error");
                if (response.status < 400) { return; }
                const auto problem = allot::Json::parse(response.body);
                fuzz::ensure(problem.at("status") == response.status, "a problem repeats its status");
                fuzz::ensure(!problem.at("detail").get<std::string>().empty(), "a problem says what to do");
            });
            fuzz::ensure(answers == 1, "each request is answered once");
        }
        taken = true;
    }
    return taken;
}

auto seeds() -> std::vector<fuzz::Bytes> {
    auto all = std::vector<fuzz::Bytes>{};
    for (const auto& route : service::routes()) {
        auto path = std::string{route.path};
        if (const auto id = path.find("{id}"); id != std::string::npos) { path.replace(id, 4, "n%37"); }
        auto text = std::string{route.method} + ' ' + path + "?cursor=0&limit=7&start=1&node=n7&owner=o1 HTTP/1.1\r\n" +
                    "Host: localhost\r\nAllot-Client: n7\r\nAllot-Time: 1800000000000\r\nAllot-Signature: " +
                    std::string(64, 'a') + "\r\nAllot-Session: " + std::string(64, 'b') +
                    "\r\nAllot-Seq: 4\r\nLast-Event-ID: 9\r\n";
        const auto body = std::string{R"({"command": "Match"})"} + "\n";
        if (route.method == "POST") { text += "Content-Length: " + std::to_string(body.size()) + "\r\n"; }
        text += "\r\n" + (route.method == "POST" ? body : std::string{});
        all.push_back(fuzz::as_bytes(text));
        all.push_back(fuzz::as_bytes(text + text));
    }
    return all;
}

}  // namespace

ALLOT_FUZZ(front, "any bytes on a connection are requests, each answered once, or are refused")

}  // namespace fuzz_front
