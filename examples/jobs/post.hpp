#pragma once

#include <functional>
#include <string>

#include "broker.hpp"
#include "keys.hpp"

namespace jobs {

/// Returns a text in its envelope: its sender's name, and its sender's signature over channel, name and text.
[[nodiscard]] auto sealed(const SigningKey& key, const std::string& name, const std::string& channel,
                          const std::string& text) -> std::string;

/// A member's post: what it says is signed, and what it hears has a sender that is proven.
class Post {
public:
    using Hear = std::function<void(const std::string& sender, const std::string& channel, const std::string& text)>;
    /// Hears of an envelope whose sender is not the one that it names, which is a member's name, or "a stranger".
    using Refuse = std::function<void(const std::string& named)>;

    Post(const std::string& name, const std::string& password, int port, const SigningKey& key, const Keyring& ring)
        : name_{name}, broker_{name, password, port}, key_{key}, ring_{ring} {}

    void listen(const std::string& channel) { broker_.listen(channel); }
    void say(const std::string& channel, const std::string& text) {
        broker_.say(channel, sealed(key_, name_, channel, text));
    }
    /// Sends an envelope as it is; honest members never need that.
    void say_raw(const std::string& channel, const std::string& envelope) { broker_.say(channel, envelope); }
    /// Calls `hear` or `refuse` for each envelope of others, waiting up to `wait_ms` ms for the first one.
    void poll(int wait_ms, const Hear& hear, const Refuse& refuse);

    [[nodiscard]] auto reconnects() const -> int { return broker_.reconnects(); }

private:
    std::string name_;
    Broker broker_;
    const SigningKey& key_;
    const Keyring& ring_;
};

}  // namespace jobs
