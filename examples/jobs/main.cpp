// A job over a real broker: a dapp posts it, worker processes share it. One cheats on all its blocks, one is killed
// during its work, one starts late. Run by run.sh; ends by itself, with status 0 if the outcome is right.
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dapp.hpp"
#include "worker.hpp"

using namespace std::chrono_literals;

namespace {

const auto slicing = allot::Slicing{3, 4, 1, 8, 1};

/// The worker processes; the destructor ends them.
class Crew {
public:
    Crew(std::string file, int port) : file_{std::move(file)}, port_{port} {}
    Crew(const Crew&) = delete;
    auto operator=(const Crew&) -> Crew& = delete;
    ~Crew() {
        for (const auto& [name, pid] : running_) { kill(pid, SIGKILL); }
        for (const auto& [name, pid] : running_) { waitpid(pid, nullptr, 0); }
    }

    void start(const std::string& name, bool cheats = false) {
        const auto pid = fork();
        if (pid < 0) { throw std::runtime_error{"no further process"}; }
        if (pid == 0) {
            try {
                jobs::run_worker({name, port_, file_, slicing.blocks_per_macro() * slicing.macro_count, cheats});
            } catch (const std::exception& error) { fmt::print(stderr, "{}: {}\n", name, error.what()); }
            _exit(1);
        }
        running_[name] = pid;
        says_[name] = cheats ? "works, and makes its hashes up" : "works";
    }
    void murder(const std::string& name) {
        kill(running_.at(name), SIGKILL);
        waitpid(running_.at(name), nullptr, 0);
        running_.erase(name);
        says_[name] = "killed at its work";
    }
    /// Returns false if a worker ended unexpectedly.
    [[nodiscard]] auto all_run() const -> bool {
        for (const auto& [name, pid] : running_) {
            if (waitpid(pid, nullptr, WNOHANG) != 0) { return false; }
        }
        return true;
    }
    void say(const std::string& name, const std::string& what) { says_[name] = what; }
    [[nodiscard]] auto says() const -> const std::map<std::string, std::string>& { return says_; }

private:
    std::string file_;
    int port_;
    std::map<std::string, pid_t> running_;
    std::map<std::string, std::string> says_;
};

auto bar(std::uint64_t done, std::uint64_t all, std::size_t width) -> std::string {
    const auto filled = static_cast<std::size_t>(done * width / all);
    return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "]";
}

/// Returns a line for one MacroJob: its owner, and each MicroJob as done, open, or locked with its holder and the time
/// left.
auto line(std::uint32_t m, const jobs::Dapp::Seen& seen) -> std::string {
    if (!seen.control) { return fmt::format("MacroJob {}  nobody has opened it", m); }
    const auto& control = *seen.control;
    const auto clock = control.clock + (jobs::now() - seen.heard);
    auto text = fmt::format("MacroJob {}  owner {:<5} ", m, control.chain.back().reign.owner.text());
    for (std::size_t k = 0; k < control.items.size(); ++k) {
        const auto& item = control.items[k];
        auto state = std::string{"open"};
        if (control.accepted[k]) {
            state = "done";
        } else if (item.closed) {
            state = "dead";
        } else if (item.is_held(clock)) {
            state = fmt::format("{} {:.1f}s", item.hold->holder.text(),
                                double((item.hold->expires - clock).count()) / 1000.0);
        }
        text += fmt::format(" | {:<9}", state);
    }
    return text + (seen.ended ? " | all in" : "");
}

/// The screen: redrawn in place on a terminal, else one line for each change.
class Screen {
public:
    void draw(const jobs::Dapp& dapp, const Crew& crew) {
        auto lines = std::vector<std::string>{};
        const auto [done, all] = dapp.progress();
        lines.push_back(fmt::format("MicroJobs {} {}/{}", bar(done, all, 45), done, all));
        for (std::uint32_t m = 0; m < dapp.seen().size(); ++m) { lines.push_back(line(m, dapp.seen()[m])); }
        for (const auto& [name, what] : crew.says()) { lines.push_back(fmt::format("  {:<5} {}", name, what)); }
        if (live_) {
            if (drawn_ > 0) { fmt::print("\x1b[{}A", drawn_); }
            for (const auto& text : lines) { fmt::print("\x1b[2K{}\n", text); }
        } else {
            const auto news = fmt::format("{}/{}", done, all);
            auto now = std::map<std::string, std::string>{crew.says().begin(), crew.says().end()};
            for (std::uint32_t m = 0; m < dapp.seen().size(); ++m) {
                const auto& control = dapp.seen()[m].control;
                if (control) { now["owner of MacroJob " + std::to_string(m)] = control->reign.owner.text(); }
            }
            now["MicroJobs"] = bar(done, all, 45) + " " + news;
            for (const auto& [what, state] : now) {
                if (last_[what] != state) { fmt::print("{}: {}\n", what, state); }
            }
            last_ = std::move(now);
        }
        drawn_ = lines.size();
        std::fflush(stdout);
    }

private:
    bool live_ = isatty(STDOUT_FILENO) == 1;
    std::size_t drawn_ = 0;
    std::map<std::string, std::string> last_;
};

auto conduct(const std::string& path, int port) -> int {
    const auto file = jobs::read_file(path);
    const auto spec = allot::JobSpec{allot::JobId{"hash a file"}, allot::Entropy{20'26}, slicing, "hash", path};
    auto dapp = jobs::Dapp{spec, file, port};
    auto crew = Crew{path, port};
    auto screen = Screen{};
    fmt::print("The hashes of {} blocks of {}, in {} MacroJobs of {} MicroJobs, one of which verifies the others.\n",
               slicing.blocks_per_macro() * slicing.macro_count, path, slicing.macro_count, slicing.items());

    crew.start("eve", true);
    crew.start("fay");
    const auto began = jobs::now();
    auto others = false;
    auto killed = std::optional<allot::TimePoint>{};
    auto late = false;
    auto draw_at = jobs::now();
    while (!dapp.ended() && jobs::now() < began + 120s) {
        dapp.poll(50);
        if (!others && jobs::now() > began + 300ms) {
            others = true;
            for (const auto* name : {"ada", "bob", "cleo", "dan"}) { crew.start(name); }
        }
        if (!killed && dapp.holds("fay")) {
            crew.murder("fay");
            killed = jobs::now();
        }
        if (killed && !late && jobs::now() > *killed + 3s) {
            late = true;
            crew.start("gus");
            crew.say("gus", "came late, works");
        }
        for (const auto& name : dapp.culprits()) { crew.say(name, "CULPRIT: named by the verifier, gets nothing"); }
        if (!crew.all_run()) { throw std::runtime_error{"a worker ended by itself"}; }
        if (jobs::now() >= draw_at) {
            draw_at = jobs::now() + 200ms;
            screen.draw(dapp, crew);
        }
    }
    screen.draw(dapp, crew);

    auto faults = dapp.faults();
    if (!killed || !late) { faults.emplace_back("nobody was killed, or nobody came late: this run showed too little"); }
    fmt::print("\n");
    for (const auto& [wallet, amount] : dapp.paid()) {
        fmt::print("paid {:>6} to the {}\n", amount.units.low(), wallet.text());
    }
    if (faults.empty()) {
        fmt::print(
            "All blocks are as we compute them ourselves, each MicroJob was paid once, and the escrow is spent: after "
            "{:.1f} s.\n",
            double((jobs::now() - began).count()) / 1000.0);
    }
    for (const auto& fault : faults) { fmt::print("WRONG: {}\n", fault); }
    if (!faults.empty()) {
        for (std::uint32_t m = 0; m < dapp.seen().size(); ++m) { fmt::print("{}\n", line(m, dapp.seen()[m])); }
    }
    return faults.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    auto app = CLI::App{"A job over a real broker: sliced, leased, verified and settled."};
    auto file = std::string{};
    auto port = 0;
    app.add_option("--file", file, "whose blocks are hashed")->required();
    app.add_option("--port", port, "of the MQTT broker on this machine")->required();
    CLI11_PARSE(app, argc, argv);
    try {
        return conduct(file, port);
    } catch (const std::exception& error) {
        fmt::print(stderr, "jobs: {}\n", error.what());
        return 1;
    }
}
