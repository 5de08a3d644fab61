#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct mosquitto;

namespace jobs {

/// A connection to an MQTT broker on this machine. When the broker goes, it connects again, and subscribes again to all
/// that it listened to; what is said meanwhile is lost, as the library allows.
class Broker {
public:
    using Hear = std::function<void(const std::string& channel, const std::string& text)>;

    /// Throws `std::runtime_error` if the broker cannot be reached for a minute, or refuses the password.
    Broker(std::string name, const std::string& password, int port);

    void listen(const std::string& channel);
    void say(const std::string& channel, const std::string& text);
    /// Calls `hear` for each received message, waiting up to `wait_ms` ms for the first one.
    void poll(int wait_ms, const Hear& hear);

    /// How often it lost the broker and found it again.
    [[nodiscard]] auto reconnects() const -> int { return reconnects_; }

private:
    struct Free {
        void operator()(mosquitto* client) const;
    };

    void loop(int wait_ms);
    void on_connected(int code);
    void connect_again();

    std::string name_;
    int port_;
    std::vector<std::string> channels_;
    std::deque<std::pair<std::string, std::string>> received_;
    bool connected_ = false;
    bool refused_ = false;
    int reconnects_ = -1;
    std::chrono::steady_clock::time_point next_try_{};
    std::unique_ptr<mosquitto, Free> client_;
};

}  // namespace jobs
