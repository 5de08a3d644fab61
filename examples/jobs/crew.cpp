#include "crew.hpp"

#include <algorithm>
#include <csignal>
#include <exception>
#include <stdexcept>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adversary.hpp"
#include "broker_process.hpp"
#include "common.hpp"
#include "member.hpp"

namespace jobs {

Crew::~Crew() {
    for (const auto& [name, pid] : running_) { ::kill(pid, SIGKILL); }
    for (const auto& [name, pid] : running_) { waitpid(pid, nullptr, 0); }
}

auto Crew::member(const std::string& name) const -> const Member& {
    return *std::find_if(members_.begin(), members_.end(), [&](const auto& member) { return member.name == name; });
}

void Crew::start(const std::string& name) {
    const auto pid = fork();
    if (pid < 0) { throw std::runtime_error{"no further process; end some others"}; }
    if (pid == 0) { live(member(name)); }
    running_[name] = pid;
}

void Crew::live(const Member& member) const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // it ends with the program, however that ends
    for (auto inherited = 3; inherited < 256; ++inherited) { close(inherited); }
    try {
        const auto key = SigningKey{options_.seed, member.name};
        const auto password = password_of(options_.seed, member.name);
        if (member.role == Role::forger) {
            auto names = std::vector<std::string>{dapp_name};
            for (const auto& other : members_) { names.push_back(other.name); }
            run_forger({member, names, options_.seed, password, options_.port}, key);
        }
        run_member({member, options_.seed, password, options_.port, options_.folder, options_.block_time}, key, ring_);
    } catch (const std::exception& error) { fmt::print(stderr, "{}: {}\n", member.name, error.what()); }
    _exit(1);
}

void Crew::kill(const std::string& name) {
    ::kill(running_.at(name), SIGKILL);
    waitpid(running_.at(name), nullptr, 0);
    running_.erase(name);
}

auto Crew::lost() -> std::optional<std::string> {
    for (const auto& [name, pid] : running_) {
        if (waitpid(pid, nullptr, WNOHANG) == 0) { continue; }
        auto ended = name;
        running_.erase(ended);  // its number may be another process' from now on
        return ended;
    }
    return std::nullopt;
}

}  // namespace jobs
