#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace jobs {

/// A member's password at the broker. A function of the run's seed, so that a run can be repeated.
[[nodiscard]] auto password_of(std::uint64_t seed, const std::string& name) -> std::string;

/// The broker, mosquitto: with a password for each member, and a list of what each may write and read. It keeps nothing
/// over a restart. The destructor ends it.
class BrokerProcess {
public:
    /// Writes its files into `folder`.
    BrokerProcess(std::string folder, std::uint64_t seed, const std::vector<std::string>& members);
    BrokerProcess(const BrokerProcess&) = delete;
    auto operator=(const BrokerProcess&) -> BrokerProcess& = delete;
    ~BrokerProcess() { kill(); }

    /// Starts it and waits until it listens, at each start on the same port. Throws `std::runtime_error` if it does
    /// not.
    void start();
    /// Ends it without a warning.
    void kill();
    [[nodiscard]] auto port() const -> int { return port_; }

private:
    [[nodiscard]] auto listens() const -> bool;
    [[nodiscard]] auto starts() -> bool;

    std::string folder_;
    int port_ = 0;
    pid_t pid_ = 0;
};

}  // namespace jobs
