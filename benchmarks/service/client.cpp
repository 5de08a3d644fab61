#include "client.hpp"

#include <array>
#include <chrono>
#include <random>
#include <thread>
#include <utility>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/beast/http.hpp>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <allot/json.hpp>

namespace bench {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using namespace std::chrono_literals;

namespace {

constexpr auto answer_time_max = 3s;
constexpr auto pause = 20ms;        // before the next front is tried
constexpr auto patience_max = 60s;  // until a request counts as lost
constexpr auto look_around = 50ms;  // while a stream is silent

auto hex(const unsigned char* bytes, std::size_t size) -> std::string {
    constexpr auto digits = std::string_view{"0123456789abcdef"};
    auto out = std::string{};
    for (std::size_t i = 0; i < size; ++i) {
        out += digits[bytes[i] >> 4U];
        out += digits[bytes[i] & 15U];
    }
    return out;
}

auto random_id() -> std::string {
    auto random = std::random_device{};
    auto bytes = std::array<unsigned char, 32>{};
    for (auto& byte : bytes) { byte = static_cast<unsigned char>(random()); }
    return hex(bytes.data(), bytes.size());
}

}  // namespace

auto front_from(const std::string& address_and_port) -> Front {
    const auto colon = address_and_port.rfind(':');
    if (colon == std::string::npos) { throw std::runtime_error{"--front: ADDR:PORT is expected"}; }
    return {asio::ip::make_address(address_and_port.substr(0, colon)),
            static_cast<std::uint16_t>(std::stoul(address_and_port.substr(colon + 1)))};
}

Client::Client(std::vector<Front> fronts, std::size_t first, Account account)
    : fronts_{std::move(fronts)}, front_{first % fronts_.size()}, account_{std::move(account)}, session_{random_id()} {}

template <class Start>
void Client::wait(Start&& start) {
    auto result = error_code{asio::error::would_block};
    start([&result](error_code error, auto&&...) { result = error; });
    io_.restart();
    io_.run();
    if (result) { throw boost::system::system_error{result}; }
}

void Client::connect() {
    if (is_connected_) { return; }
    buffer_.clear();
    stream_.expires_after(answer_time_max);
    wait([this](auto done) { stream_.async_connect(fronts_[front_], done); });
    stream_.socket().set_option(asio::ip::tcp::no_delay{true});
    is_connected_ = true;
}

void Client::give_up_front() {
    stream_.close();
    is_connected_ = false;
    front_ = (front_ + 1) % fronts_.size();
}

auto Client::ask(std::string_view method, const std::string& path, std::string_view body, std::string_view content_type,
                 const std::string& seq) -> Answer {
    connect();
    const auto now = std::to_string(
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count());
    auto request = http::request<http::span_body<const char>>{};
    request.method_string({method.data(), method.size()});
    request.target(path);
    request.version(11);
    request.set(http::field::host, "localhost");
    request.set(http::field::content_type, {content_type.data(), content_type.size()});
    const auto& session = seq.empty() ? seq : session_;
    if (!seq.empty()) {
        request.set("Allot-Session", session_);
        request.set("Allot-Seq", seq);
    }
    if (!account_.name.empty()) {
        auto text = std::string{method};
        for (const auto* part : {&path, &now, &session, &seq}) { (text += '\n') += *part; }
        (text += '\n') += body;
        auto digest = std::array<unsigned char, EVP_MAX_MD_SIZE>{};
        auto size = 0U;
        HMAC(EVP_sha256(), account_.secret.data(), static_cast<int>(account_.secret.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
        request.set("Allot-Client", account_.name);
        request.set("Allot-Time", now);
        request.set("Allot-Signature", hex(digest.data(), size));
    }
    request.body() = {body.data(), body.size()};
    request.prepare_payload();
    stream_.expires_after(answer_time_max);
    wait([&](auto done) { http::async_write(stream_, request, done); });
    if (method == "GET") { return {}; }  // a stream, which `follow` reads
    auto answer = http::response<http::string_body>{};
    wait([&](auto done) { http::async_read(stream_, buffer_, answer, done); });
    if (!answer.keep_alive()) {
        stream_.close();
        is_connected_ = false;
    }
    return {answer.result_int(), std::move(answer.body())};
}

auto Client::until_answered(const std::string& path, std::string_view body, std::string_view content_type,
                            const std::string& seq) -> Told {
    auto told = Told{};
    const auto end = std::chrono::steady_clock::now() + patience_max;
    for (;; ++told.resent) {
        try {
            auto answer = ask("POST", path, body, content_type, seq);
            if (answer.status == 200) {
                told.text = std::move(answer.text);
                told.is_duplicate = told.text.find(R"("answer":"duplicate")") != std::string::npos;
                return told;
            }
            // Those that say "again"; anything else would be said again.
            if (answer.status != 429 && answer.status != 503 && answer.status != 504) {
                throw std::runtime_error{path + ": " + answer.text};
            }
        } catch (const boost::system::system_error&) {  // the front is away
        }
        if (std::chrono::steady_clock::now() > end) { throw std::runtime_error{path + ": no front answers"}; }
        give_up_front();
        if (told.resent % fronts_.size() == fronts_.size() - 1) { std::this_thread::sleep_for(pause); }
    }
}

auto Client::send(std::string_view body, std::string_view content_type) -> Told {
    if (seq_ == 0) {
        seq_ = allot::Json::parse(until_answered("/v1/sessions", {}, "application/json", "0").text).at("seq");
    }
    auto told = until_answered("/v1/requests", body, content_type, std::to_string(seq_));
    ++seq_;
    return told;
}

void Client::follow(const std::string& path, const std::atomic<bool>& is_over, const std::function<void()>& opened,
                    const std::function<void(std::string_view)>& tell) {
    auto last = std::string{};
    auto text = std::string{};
    const auto line = [&]() -> std::string_view {
        auto result = error_code{};
        auto is_done = false;
        auto size = std::size_t{0};
        asio::async_read_until(stream_, asio::dynamic_buffer(text), '\n', [&](error_code error, std::size_t n) {
            std::tie(result, size, is_done) = std::tuple{error, n, true};
        });
        io_.restart();
        while (!is_done && !is_over) { io_.run_for(look_around); }
        if (!is_done) {
            stream_.close();
            io_.run();
        }
        if (result) { throw boost::system::system_error{result}; }
        return std::string_view{text}.substr(0, size);
    };
    while (!is_over) {
        try {
            text.clear();
            (void)ask("GET", last.empty() ? path : path + "?start=" + last, {}, "application/json", {});
            stream_.expires_never();
            opened();
            while (!is_over) {
                const auto one = line();
                if (one.starts_with("HTTP/1.1 ") && !one.starts_with("HTTP/1.1 200")) {
                    throw std::runtime_error{path + ": " + text};
                }
                if (one.starts_with("id: ")) { last = std::to_string(std::stoull(std::string{one.substr(4)}) + 1); }
                if (one.starts_with("data: ")) { tell(one.substr(6)); }
                text.erase(0, one.size());
            }
        } catch (const boost::system::system_error&) {
            if (is_over) { return; }
            give_up_front();
            std::this_thread::sleep_for(pause);
        }
    }
}

}  // namespace bench
