#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "keys.hpp"
#include "members.hpp"

namespace jobs {

/// The members' processes; the destructor ends them.
class Crew {
public:
    struct Options {
        std::uint64_t seed = 0;
        int port = 0;
        std::string folder;
        std::chrono::milliseconds block_time{};
    };
    Crew(std::vector<Member> members, Options options, const Keyring& ring)
        : members_{std::move(members)}, options_{std::move(options)}, ring_{ring} {}
    Crew(const Crew&) = delete;
    auto operator=(const Crew&) -> Crew& = delete;
    ~Crew();

    /// Starts a member's process, again if it was killed.
    void start(const std::string& name);
    void kill(const std::string& name);
    /// Returns the name of a member whose process ended by itself, and forgets the process; none if all run.
    [[nodiscard]] auto lost() -> std::optional<std::string>;

    [[nodiscard]] auto members() const -> const std::vector<Member>& { return members_; }
    [[nodiscard]] auto runs(const std::string& name) const -> bool { return running_.contains(name); }
    [[nodiscard]] auto member(const std::string& name) const -> const Member&;

private:
    [[noreturn]] void live(const Member& member) const;

    std::vector<Member> members_;
    Options options_;
    const Keyring& ring_;
    std::map<std::string, pid_t> running_;
};

}  // namespace jobs
