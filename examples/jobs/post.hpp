#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "broker.hpp"
#include "keys.hpp"

namespace jobs {

/// A text in its envelope.
struct Letter {
    std::string sender;  ///< As the envelope names it.
    /// Grows with each letter of a sender, also over its restarts, so that nobody can send an old letter again.
    std::uint64_t number = 0;
    allot::Signature signature{};  ///< The sender's, over channel, name, number and text.
    std::string text;
};
/// Returns the envelope of a text, signed by its sender.
[[nodiscard]] auto sealed(const SigningKey& key, const std::string& sender, std::uint64_t number,
                          const std::string& channel, const std::string& text) -> std::string;
/// Returns what is in an envelope, unproven; none if it is no envelope.
[[nodiscard]] auto opened(const std::string& envelope) -> std::optional<Letter>;

/// Returns a number for a letter that is higher than the last one, and than those before a restart.
[[nodiscard]] auto number_after(std::uint64_t last) -> std::uint64_t;

/// A member's post: what it says is signed, and what it hears has a sender that is proven, and is new.
class Post {
public:
    using Hear = std::function<void(const std::string& sender, const std::string& channel, const std::string& text)>;
    /// Hears of a letter that is refused: why, and in whose name it comes, which is a member's or "a stranger".
    using Refuse = std::function<void(const std::string& why, const std::string& named)>;

    Post(const std::string& name, const std::string& password, int port, const SigningKey& key, const Keyring& ring)
        : name_{name}, broker_{name, password, port}, key_{key}, ring_{ring} {}

    void listen(const std::string& channel) { broker_.listen(channel); }
    void say(const std::string& channel, const std::string& text) {
        number_ = number_after(number_);
        broker_.say(channel, sealed(key_, name_, number_, channel, text));
    }
    /// Calls `hear` or `refuse` for each letter of others, waiting up to `wait_ms` ms for the first one.
    void poll(int wait_ms, const Hear& hear, const Refuse& refuse);

    [[nodiscard]] auto reconnects() const -> int { return broker_.reconnects(); }

private:
    std::string name_;
    Broker broker_;
    const SigningKey& key_;
    const Keyring& ring_;
    std::uint64_t number_ = 0;
    std::map<std::string, std::uint64_t> heard_;  // the highest number by sender
};

}  // namespace jobs
