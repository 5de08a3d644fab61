#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "engine.hpp"
#include "front.hpp"

namespace service {

/// Limits against clients that send too much or too slowly. No client can use what others need.
struct ServerLimits {
    std::uint32_t header_bytes_max = 8'192;
    std::uint64_t body_bytes_max = std::uint64_t{1} << 20U;
    std::uint32_t connections_max = 16'384;
    std::size_t stream_bytes_max = std::size_t{1} << 19U;   ///< Unsent bytes of a stream; beyond, it is closed.
    std::size_t unsent_bytes_max = std::size_t{64} << 20U;  ///< Of all streams; beyond, one above its share is closed.
    std::uint64_t reading_bytes_max = std::uint64_t{64} << 20U;  ///< Of all requests that are being read.
    std::uint64_t small_bytes_max = std::uint64_t{1} << 14U;     ///< So much of a request or stream fits all the same.
};

/// Files in PEM form; without a certificate the service speaks in the clear.
struct TlsFiles {
    std::string certificate{};  ///< The chain, the service's own first.
    std::string key{};
};

/// Serves HTTP/1.1, with TLS 1.2 or 1.3 if it has a certificate, with one thread. An idle connection or stream costs
/// memory only.
class Server {
public:
    /// Listens. Throws `boost::system::system_error` if it cannot, or if a file cannot be read.
    Server(Engine& engine, Front& front, const boost::asio::ip::tcp::endpoint& at, const TlsFiles& tls = {},
           const ServerLimits& limits = {});
    ~Server() {
        engine_.on_work({});
        engine_.stop();
    }
    Server(const Server&) = delete;
    auto operator=(const Server&) -> Server& = delete;
    /// Serves until SIGTERM, SIGINT, or a failure of the log. Returns true after a signal.
    auto run() -> bool;
    [[nodiscard]] auto port() const -> std::uint16_t { return acceptor_.local_endpoint().port(); }

private:
    template <class>
    friend class Connection;

    void accept();
    void schedule_tick();
    void schedule_turn();
    void turn();

    Engine& engine_;
    Front& front_;
    ServerLimits limits_;
    std::uint32_t connections_ = 0;
    std::uint64_t reading_bytes_ = 0;
    std::size_t unsent_bytes_ = 0;
    bool is_turn_scheduled_ = false;
    std::atomic<bool> is_woken_ = false;
    bool is_stopping_ = false;
    bool has_failed_ = false;
    std::optional<boost::asio::ssl::context> tls_{};
    boost::asio::io_context io_{1};
    boost::asio::ip::tcp::acceptor acceptor_;
    boost::asio::steady_timer ticker_{io_};
    boost::asio::steady_timer accept_again_{io_};
    boost::asio::steady_timer last_answers_{io_};
    boost::asio::signal_set signals_{io_};
};

}  // namespace service
