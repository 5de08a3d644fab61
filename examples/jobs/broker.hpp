#pragma once

#include <functional>
#include <memory>
#include <string>

struct mosquitto;

namespace jobs {

/// A connection to an MQTT broker on this machine. What this client says does not come back to it.
class Broker {
public:
    using Hear = std::function<void(const std::string& channel, const std::string& text)>;

    /// Throws std::runtime_error when the broker cannot be reached.
    Broker(std::string name, int port);

    void listen(const std::string& channel);
    void say(const std::string& channel, const std::string& text);
    /// Hands what came in to `hear`, waiting up to `wait_ms` for it. Throws when the broker is gone.
    void poll(int wait_ms, const Hear& hear);

private:
    struct Free { void operator()(mosquitto* client) const; };

    std::string name_;
    Hear hear_;
    std::unique_ptr<mosquitto, Free> client_;
};

}  // namespace jobs
