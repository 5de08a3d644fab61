#include "broker_process.hpp"

#include <chrono>
#include <csignal>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.hpp"

namespace jobs {
namespace {

/// Starts a program whose output goes to the end of a file.
auto started(std::vector<std::string> words, const std::string& log) -> pid_t {
    const auto pid = fork();
    if (pid < 0) { throw std::runtime_error{"no further process; end some others"}; }
    if (pid > 0) { return pid; }
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // it ends with this program, however this one ends
    const auto out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    auto arguments = std::vector<char*>{};
    for (auto& word : words) { arguments.push_back(word.data()); }
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
}

auto address_of(int port) -> sockaddr_in {
    auto address = sockaddr_in{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
}

/// A port of this machine that nobody uses now.
auto free_port() -> int {
    const auto socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto address = address_of(0);
    auto size = socklen_t{sizeof address};
    const auto bound = bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                       getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    close(socket);
    if (!bound) { throw std::runtime_error{"this machine has no free port"}; }
    return ntohs(address.sin_port);
}

constexpr auto access_list = R"(# What no line permits is refused. %u is the name under which a member logged in.
pattern write Deals/asked/%u
pattern read Deals/given/%u
pattern write Escrow/asked/%u
pattern read Escrow/said/%u
pattern write Store/%u
pattern write Report/%u

user dapp
topic readwrite #
)";

}  // namespace

auto password_of(std::uint64_t seed, const std::string& name) -> std::string {
    return allot::hex_of(allot::RecordHasher{"password"}.word(seed).text(name).finish());
}

BrokerProcess::BrokerProcess(std::string folder, std::uint64_t seed, const std::vector<std::string>& members)
    : folder_{std::move(folder)} {
    const auto passwords = folder_ + "/passwords";
    {
        auto list = std::ofstream{folder_ + "/access"};
        auto file = std::ofstream{passwords};
        list << access_list;
        file << dapp_name << ":" << password_of(seed, dapp_name) << "\n";
        for (const auto& name : members) {
            list << "\nuser " << name << "\ntopic readwrite " << net << "#\ntopic read " << proofs << "\n";
            file << name << ":" << password_of(seed, name) << "\n";
        }
        if (!list.flush() || !file.flush()) { throw std::runtime_error{"cannot write into " + folder_}; }
    }
    // Replaces each password by its hash.
    auto status = 0;
    waitpid(started({"mosquitto_passwd", "-U", passwords}, folder_ + "/broker.log"), &status, 0);
    if (status != 0) { throw std::runtime_error{"mosquitto_passwd failed; install Debian's package mosquitto"}; }
}

void BrokerProcess::start() {
    const auto* user = getpwuid(geteuid());
    for (auto attempt = 0; attempt < 20; ++attempt) {
        const auto fresh = port_ == 0;
        if (fresh) { port_ = free_port(); }
        auto file = std::ofstream{folder_ + "/broker.conf"};
        file << "listener " << port_ << " 127.0.0.1\nallow_anonymous false\npersistence false\nset_tcp_nodelay true\n"
             << "use_username_as_clientid true\npassword_file " << folder_ << "/passwords\nacl_file " << folder_
             << "/access\nuser " << (user == nullptr ? "mosquitto" : user->pw_name) << "\n";
        file.close();
        pid_ = started({"mosquitto", "-c", folder_ + "/broker.conf"}, folder_ + "/broker.log");
        if (starts()) { return; }
        kill();
        if (fresh) { port_ = 0; }  // somebody was faster; another port
        std::this_thread::sleep_for(200ms);
    }
    throw std::runtime_error{"mosquitto does not start; its reason is in broker.log"};
}

auto BrokerProcess::starts() -> bool {
    for (auto waited = 0; waited < 600; ++waited) {
        if (waitpid(pid_, nullptr, WNOHANG) != 0) {
            pid_ = 0;
            return false;
        }
        if (listens()) { return true; }
        std::this_thread::sleep_for(50ms);
    }
    return false;
}

auto BrokerProcess::listens() const -> bool {
    const auto socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto address = address_of(port_);
    const auto connected = connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    close(socket);
    return connected;
}

void BrokerProcess::kill() {
    if (pid_ == 0) { return; }
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
}

}  // namespace jobs
