#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>

namespace bench {

/// A front of the service.
using Front = boost::asio::ip::tcp::endpoint;
[[nodiscard]] auto front_from(const std::string& address_and_port) -> Front;

/// What an account needs to sign. `load accounts` prints the clients' file that has them all.
struct Account {
    std::string name{};
    std::string secret{};
};

/// What a client was told and what it cost.
struct Told {
    std::string text{};
    unsigned resent = 0;        ///< Copies of the request, at this front or another.
    bool is_duplicate = false;  ///< A copy came first, so the answer is of the table of sessions.
};

/// One client: a connection, and a session with one request in flight. It sends the same bytes again, at the next front
/// if one breaks, until it has the answer. One thread uses it.
class Client {
public:
    /// Begins with the front of this number.
    Client(std::vector<Front> fronts, std::size_t first, Account account);

    /// Applies commands once. Throws `std::runtime_error` if the service answers anything but an answer, such as a gap
    /// in the session: then a request that it had acknowledged would be lost.
    auto send(std::string_view body, std::string_view content_type) -> Told;
    /// Reads the stream of events of a path, calls `tell` with the JSON of each, and follows it on other fronts until
    /// `is_over`. Calls `opened` each time it is open.
    void follow(const std::string& path, const std::atomic<bool>& is_over, const std::function<void()>& opened,
                const std::function<void(std::string_view)>& tell);

private:
    struct Answer {
        unsigned status = 0;
        std::string text{};
    };
    auto ask(std::string_view method, const std::string& path, std::string_view body, std::string_view content_type,
             const std::string& seq) -> Answer;
    auto until_answered(const std::string& path, std::string_view body, std::string_view content_type,
                        const std::string& seq) -> Told;
    void connect();
    void give_up_front();
    /// Starts an operation and waits for its end. Throws `boost::system::system_error`.
    template <class Start>
    void wait(Start&& start);

    std::vector<Front> fronts_;
    std::size_t front_;
    Account account_;
    std::string session_{};
    std::uint64_t seq_ = 0;
    boost::asio::io_context io_{1};
    boost::beast::tcp_stream stream_{io_};
    boost::beast::flat_buffer buffer_{};
    bool is_connected_ = false;
};

}  // namespace bench
