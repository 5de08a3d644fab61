#include "server.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream_base.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "http_request.hpp"

namespace service {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;

namespace {

using Plain = beast::tcp_stream;
using Secure = beast::ssl_stream<beast::tcp_stream>;

constexpr auto request_time_max = 10s;  // from the first byte to the last; also of a handshake
constexpr auto idle_time_max = 60s;     // between requests
constexpr auto write_time_max = 30s;
constexpr auto linger_time_max = 2s;
constexpr auto ignored_max = 1'000U;
constexpr auto tick_every = 100ms;
constexpr auto stream_buffer_bytes = 1 << 16;  // of the system; what is beyond waits here

template <int Name>
using TcpOption = asio::detail::socket_option::integer<IPPROTO_TCP, Name>;

template <class... Option>
void set_options(tcp::socket& socket, const Option&... options) {
    auto ignored = error_code{};
    (socket.set_option(options, ignored), ...);
}

auto unix_ms() -> std::int64_t {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

auto log_now() -> allot::TimePoint { return allot::network_time(std::chrono::system_clock::now()); }

}  // namespace

/// One connection: requests one after the other, and at the end perhaps a stream.
template <class Stream>
class Connection final : public EventListener, public std::enable_shared_from_this<Connection<Stream>> {
    static constexpr bool is_secure = std::is_same_v<Stream, Secure>;

public:
    template <class... Context>
    Connection(Server& server, tcp::socket socket, Context&... context)
        : server_{server}, stream_{std::move(socket), context...} {
        ++server_.connections_;
    }
    Connection(const Connection&) = delete;
    auto operator=(const Connection&) -> Connection& = delete;
    ~Connection() override {
        forget_read();
        forget_unsent(unsent_bytes_);
        --server_.connections_;
    }

    void start() {
        if constexpr (is_secure) {
            transport().expires_after(request_time_max);
            stream_.async_handshake(asio::ssl::stream_base::server,
                                    [self = this->shared_from_this()](error_code error) {
                                        if (!error) { self->wait_for_request(); }
                                    });
        } else {
            wait_for_request();
        }
    }

    void hear(std::uint64_t id, const SharedText& text) override {
        if (!is_closed_ && id >= next_) { send(text); }
    }
    void cut() override { close_soon(); }

private:
    auto transport() -> beast::tcp_stream& { return beast::get_lowest_layer(stream_); }

    void wait_for_request() {
        if (buffer_.size() > 0) { return read_request(); }
        transport().expires_after(first_ ? request_time_max : idle_time_max);
        stream_.async_read_some(buffer_.prepare(4'096),
                                [self = this->shared_from_this()](error_code error, std::size_t n) {
                                    if (error) { return; }
                                    self->buffer_.commit(n);
                                    self->read_request();
                                });
    }

    void read_request() {
        first_ = false;
        parser_.emplace();
        parser_->header_limit(server_.limits_.header_bytes_max);
        parser_->body_limit(server_.limits_.body_bytes_max);
        parser_->eager(true);  // the body, too
        transport().expires_after(request_time_max);
        read_more();
    }
    /// Bodies come before their signatures are known, so all that are being read share a budget.
    void read_more() {
        http::async_read_some(
            stream_, buffer_, *parser_, [self = this->shared_from_this()](error_code error, std::size_t n) {
                const auto& limits = self->server_.limits_;
                self->reading_ += n;
                self->server_.reading_bytes_ += n;
                if (error || self->parser_->is_done()) { return self->on_request(error); }
                if (self->reading_ <= limits.small_bytes_max ||
                    self->server_.reading_bytes_ <= limits.reading_bytes_max) {
                    return self->read_more();
                }
                self->keep_alive_ = false;
                self->parser_.reset();
                self->forget_read();
                self->respond(Front::problem({503, "busy", "too many large requests at once; try again later", 1}));
            });
    }
    void forget_read() { server_.reading_bytes_ -= std::exchange(reading_, 0); }

    void on_request(error_code error) {
        forget_read();
        if (error == http::error::end_of_stream || error == asio::error::operation_aborted ||
            error == beast::error::timeout || error == asio::error::connection_reset ||
            error == http::error::partial_message) {
            return close();
        }
        keep_alive_ = false;
        if (error == http::error::body_limit) {
            const auto max = std::to_string(server_.limits_.body_bytes_max);
            return respond(
                Front::problem({413, "too_large", "a body has at most " + max + " bytes; split the request"}));
        }
        if (error == http::error::header_limit || error == http::error::buffer_overflow) {
            return respond(Front::problem({431, "header_too_large", "the header is too long; send fewer fields"}));
        }
        if (error) {
            return respond(Front::problem({400, "malformed", "the request is no HTTP/1.1: " + error.message()}));
        }
        auto message = parser_->release();
        keep_alive_ = message.keep_alive() && !server_.is_stopping_;
        const auto request = request_of(std::move(message));
        try {
            server_.front_.handle(request, unix_ms(), [self = this->shared_from_this()](HttpResponse response) {
                self->respond(std::move(response));
            });
        } catch (const std::bad_alloc&) {
            return respond(Front::problem({503, "memory", "the service is out of memory; try again later", 5}));
        }
        server_.schedule_turn();
    }

    void respond(HttpResponse response) {
        if (response.stream) { return open_stream(*std::move(response.stream)); }
        response_ = {};
        response_.result(response.status);
        response_.version(11);
        response_.set(http::field::content_type, response.content_type);
        response_.set(http::field::cache_control, "no-store");
        response_.set("X-Content-Type-Options", "nosniff");
        if (response.content_type.starts_with("text/html")) {
            response_.set("Content-Security-Policy",
                          "default-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'");
        }
        if (response.retry_after_s > 0) {
            response_.set(http::field::retry_after, std::to_string(response.retry_after_s));
        }
        if (!response.allow.empty()) { response_.set(http::field::allow, response.allow); }
        response_.body() = std::move(response.body);
        response_.keep_alive(keep_alive_);
        response_.prepare_payload();
        transport().expires_after(write_time_max);
        http::async_write(stream_, response_, [self = this->shared_from_this()](error_code error, std::size_t) {
            self->response_ = {};
            if (error) { return self->close(); }
            if (!self->keep_alive_) { return self->linger(); }
            self->wait_for_request();
        });
    }

    /// Ends the sending side and reads what still comes for a moment. A close with unread bytes would lose the answer.
    void linger() {
        transport().expires_after(linger_time_max);
        if constexpr (is_secure) {
            stream_.async_shutdown([self = this->shared_from_this()](error_code) { self->close(); });
        } else {
            auto ignored = error_code{};
            transport().socket().shutdown(tcp::socket::shutdown_send, ignored);
            drain();
        }
    }
    void drain() {
        stream_.async_read_some(asio::buffer(ignored_),
                                [self = this->shared_from_this()](error_code error, std::size_t) {
                                    if (error || ++self->ignored_count_ > ignored_max) { return self->close(); }
                                    self->drain();
                                });
    }

    // ---- streams ----------------------------------------------------------------------------------------------

    void open_stream(StreamStart start) {
        client_ = start.client;
        ++client_->streams;
        filter_ = start.filter;
        next_ = start.next;
        parser_.reset();
        buffer_.clear();
        buffer_.shrink_to_fit();
        set_options(transport().socket(), asio::socket_base::send_buffer_size{stream_buffer_bytes});
        self_ = this->shared_from_this();  // until the stream is closed
        server_.engine_.events().listen(filter_, *this);
        send(std::make_shared<const std::string>(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
            "Connection: close\r\nX-Accel-Buffering: no\r\n\r\n" +
            std::move(start.backlog)));
        transport().expires_never();
        watch_end();
    }
    /// A client of a stream sends nothing more; what comes is its end.
    void watch_end() {
        stream_.async_read_some(asio::buffer(ignored_),
                                [self = this->shared_from_this()](error_code error, std::size_t) {
                                    if (error || self->is_closed_ || ++self->ignored_count_ > ignored_max) {
                                        return self->close();
                                    }
                                    self->watch_end();
                                });
    }
    void send(SharedText text) {
        const auto& limits = server_.limits_;
        unsent_bytes_ += text->size();
        server_.unsent_bytes_ += text->size();
        unsent_.push_back(std::move(text));
        const auto share =
            std::max<std::size_t>(limits.small_bytes_max, limits.unsent_bytes_max / server_.connections_);
        const auto is_too_much = unsent_bytes_ > share && server_.unsent_bytes_ > limits.unsent_bytes_max;
        if (unsent_bytes_ > limits.stream_bytes_max || is_too_much) {  // it does not read
            for (const auto& waiting : std::exchange(unsent_, {})) { forget_unsent(waiting->size()); }
            return close_soon();
        }
        if (sending_.empty()) {
            // Not at once: one write for all events of a turn.
            if (!std::exchange(is_flush_posted_, true)) {
                asio::post(server_.io_, [self = this->shared_from_this()] { self->flush(); });
            }
        }
    }
    void flush() {
        is_flush_posted_ = false;
        if (is_closed_ || unsent_.empty() || !sending_.empty()) { return; }
        sending_.swap(unsent_);
        auto buffers = std::vector<asio::const_buffer>{};
        for (const auto& text : sending_) { buffers.push_back(asio::buffer(*text)); }
        transport().expires_after(write_time_max);
        asio::async_write(stream_, buffers, [self = this->shared_from_this()](error_code error, std::size_t) {
            for (const auto& text : self->sending_) { self->forget_unsent(text->size()); }
            self->sending_ = {};
            if (error) { return self->close(); }
            self->flush();
        });
    }
    void forget_unsent(std::size_t bytes) {
        unsent_bytes_ -= bytes;
        server_.unsent_bytes_ -= bytes;
    }

    void close_soon() {
        is_closed_ = true;
        asio::post(server_.io_, [self = this->shared_from_this()] { self->close(); });
    }
    void close() {
        is_closed_ = true;
        const auto self = std::exchange(self_, nullptr);
        if (self) {
            server_.engine_.events().leave(filter_, *this);
            --client_->streams;
        }
        auto ignored = error_code{};
        transport().socket().shutdown(tcp::socket::shutdown_both, ignored);
        transport().close();
    }

    Server& server_;
    Stream stream_;
    beast::flat_buffer buffer_{std::size_t{64} << 10U};
    std::optional<http::request_parser<http::string_body>> parser_{};
    http::response<http::string_body> response_{};
    bool keep_alive_ = true;
    bool first_ = true;
    bool is_closed_ = false;
    bool is_flush_posted_ = false;
    Client* client_ = nullptr;
    EventFilter filter_{};
    std::uint64_t next_ = 0;  // smaller ids were sent before, perhaps by another replica
    std::shared_ptr<Connection> self_{};
    std::vector<SharedText> unsent_{};
    std::vector<SharedText> sending_{};
    std::size_t unsent_bytes_ = 0;  // of both
    std::uint64_t reading_ = 0;     // bytes of the request that is being read
    std::array<char, 128> ignored_{};
    unsigned ignored_count_ = 0;
};

Server::Server(Engine& engine, Front& front, const tcp::endpoint& at, const TlsFiles& tls, const ServerLimits& limits)
    : engine_{engine}, front_{front}, limits_{limits}, acceptor_{io_, at} {
    if (!tls.certificate.empty()) {
        using asio::ssl::context;
        tls_.emplace(context::tls_server);
        tls_->set_options(context::default_workarounds | context::no_tlsv1 | context::no_tlsv1_1);
        tls_->use_certificate_chain_file(tls.certificate);
        tls_->use_private_key_file(tls.key, context::pem);
        SSL_CTX_set_options(tls_->native_handle(), SSL_OP_NO_RENEGOTIATION);
        SSL_CTX_set_mode(tls_->native_handle(), SSL_MODE_RELEASE_BUFFERS);  // an idle stream holds none
    }
    signals_.add(SIGTERM);
    signals_.add(SIGINT);
}

auto Server::run() -> bool {
    signals_.async_wait([this](error_code error, int) {
        if (error) { return; }
        is_stopping_ = true;
        acceptor_.close();
        turn();  // what was given is answered
        engine_.stop();
        io_.poll();
        io_.stop();
    });
    engine_.on_work([this] {  // on any thread
        if (!is_woken_.exchange(true)) {
            asio::post(io_, [this] {
                is_woken_ = false;
                schedule_turn();
            });
        }
    });
    engine_.tick(log_now());  // first of all: it begins log time, and moves deadlines after an outage
    turn();
    accept();
    schedule_tick();
    io_.run();
    return !has_failed_;
}

void Server::accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
        if (is_stopping_) { return; }
        if (error) {  // such as too many open files: wait for some to be closed
            accept_again_.expires_after(100ms);
            return accept_again_.async_wait([this](error_code ended) {
                if (!ended) { accept(); }
            });
        }
        if (connections_ < limits_.connections_max) {
            // A stream whose client is gone without a word ends within two minutes.
            set_options(socket, tcp::no_delay{true}, asio::socket_base::keep_alive{true}, TcpOption<TCP_KEEPIDLE>{60},
                        TcpOption<TCP_KEEPINTVL>{20}, TcpOption<TCP_KEEPCNT>{3});
            if (tls_) {
                std::make_shared<Connection<Secure>>(*this, std::move(socket), *tls_)->start();
            } else {
                std::make_shared<Connection<Plain>>(*this, std::move(socket))->start();
            }
        }
        accept();
    });
}

void Server::schedule_tick() {
    ticker_.expires_after(tick_every);
    ticker_.async_wait([this](error_code error) {
        if (error) { return; }
        engine_.tick(log_now());
        turn();  // at once: nobody may read what a tick did before it is on the device
        schedule_tick();
    });
}

void Server::schedule_turn() {
    if (!engine_.has_work() || std::exchange(is_turn_scheduled_, true)) { return; }
    asio::post(io_, [this] { turn(); });
}

void Server::turn() {
    is_turn_scheduled_ = false;
    if (!engine_.has_work() || has_failed_) { return; }
    if (engine_.turn(log_now())) { return schedule_turn(); }
    has_failed_ = true;
    last_answers_.expires_after(1s);  // so that they get out
    last_answers_.async_wait([this](error_code ended) {
        if (!ended) { io_.stop(); }
    });
}

}  // namespace service
