#pragma once

#include <functional>
#include <memory>
#include <string>

struct mosquitto;

namespace jobs {

/// A connection to an MQTT broker on this machine. It does not receive its own messages.
class Broker {
public:
    using Hear = std::function<void(const std::string& channel, const std::string& text)>;

    /// Throws `std::runtime_error` if the broker cannot be reached.
    Broker(std::string name, int port);

    void listen(const std::string& channel);
    void say(const std::string& channel, const std::string& text);
    /// Calls `hear` for each received message, waiting up to `wait_ms` ms for one. Throws if the broker is gone.
    void poll(int wait_ms, const Hear& hear);

private:
    struct Free {
        void operator()(mosquitto* client) const;
    };

    std::string name_;
    Hear hear_;
    std::unique_ptr<mosquitto, Free> client_;
};

}  // namespace jobs
