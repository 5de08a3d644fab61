// Load on fronts of the service, and what clients saw of it, as one line of JSON. `load --help` tells the rest.
#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <allot/allot.hpp>
#include <allot/json.hpp>

#include "client.hpp"
#include "tally.hpp"

namespace {

using namespace bench;
using namespace std::chrono_literals;
using Command = allot::Dispatcher<>::Command;
namespace command = allot::command;

struct Options {
    std::vector<std::string> fronts{"127.0.0.1:8321"};
    std::string secret{"a secret of the benchmarks"};
    bool is_json = false;
    std::size_t clients = 16;
    std::size_t gateways = 16;
    std::size_t nodes = 2'000;
    std::size_t tasks = 1'000'000;
    std::size_t batch = 64;
    double seconds = 5;
};

auto as_text(const std::vector<std::uint8_t>& bytes) -> std::string { return {bytes.begin(), bytes.end()}; }

/// Ids that no other client and no run of another second draws; below 2^53, so that JSON has them as numbers.
class Ids {
public:
    explicit Ids(std::size_t client) {
        const auto s = std::chrono::duration_cast<std::chrono::seconds>(Clock::now().time_since_epoch()).count();
        next_ = (static_cast<std::uint64_t>(s) & 0xFF'FFFFU) << 29U | static_cast<std::uint64_t>(client) << 22U;
    }
    auto next() -> allot::TaskId { return allot::TaskId{next_++}; }

private:
    std::uint64_t next_;
};

/// A thread that ends with its scope.
class Joined {
public:
    template <class F>
    Joined(std::atomic<bool>& is_over, F&& f) : is_over_{is_over}, thread_{std::forward<F>(f)} {}
    Joined(const Joined&) = delete;
    auto operator=(const Joined&) -> Joined& = delete;
    ~Joined() {
        is_over_ = true;
        thread_.join();
    }

private:
    std::atomic<bool>& is_over_;
    std::thread thread_;
};

class Run {
public:
    explicit Run(const Options& options) : options_{options} {
        for (const auto& front : options.fronts) { fronts_.push_back(front_from(front)); }
    }

    /// The clients' file of the service.
    void accounts() const {
        const auto line = [&](const std::string& name, const std::string& rest) {
            std::cout << R"({"client": ")" << name << R"(", "secret": ")" << options_.secret << R"(", "role": )" << rest
                      << ", \"tokens_per_s\": 1000000000}\n";
        };
        line("op", R"("op")");
        for (std::size_t i = 0; i < options_.gateways; ++i) { line("g" + std::to_string(i), R"("op")"); }
        for (std::size_t i = 0; i < options_.clients; ++i) {
            line("c" + std::to_string(i), R"("owner", "owner": "c)" + std::to_string(i) + '"');
        }
    }

    /// Nodes of eight sizes, each half as frequent as the one below, with stakes from 1 to 1,000.
    void join() {
        auto client = made(0, "op");
        auto commands = std::vector<Command>{};
        for (std::size_t i = 0; i < options_.nodes; ++i) {
            auto node = allot::NodeSpec{.id = allot::NodeId{i + 1}};
            node.gpu = "RTX 4090";
            node.vram = allot::Gibibytes{8U << static_cast<unsigned>(std::countr_zero(i | 128U))};
            node.stake = allot::Amount{i % 1'000 + 1};
            commands.emplace_back(command::Join{std::move(node)});
            if (commands.size() == 1'000 || i + 1 == options_.nodes) { send(*client, std::exchange(commands, {})); }
        }
        print("");
    }

    /// Owners who submit tasks and cancel their oldest, `batch` commands a request.
    void open() {
        tally_.begin(options_.seconds);
        in_threads(options_.clients, [&](std::size_t i) {
            const auto name = "c" + std::to_string(i);
            auto client = made(i, name);
            auto ids = Ids{i};
            auto waiting = std::deque<allot::TaskId>{};
            auto given = std::size_t{0};
            const auto request = [&](bool is_last) {
                auto commands = std::vector<Command>{};
                auto old = waiting.size();
                // Half a batch of each client's tasks wait, so that the queue stays short of its capacity.
                const auto size = is_last   ? std::min(old, options_.batch)
                                  : old > 0 ? options_.batch
                                            : std::max(options_.batch / 2, std::size_t{1});
                while (commands.size() < size) {
                    if (old > 0 && (is_last || given % 2 == 1)) {
                        commands.emplace_back(command::Cancel{waiting.front()});
                        waiting.pop_front();
                        --old;
                    } else {
                        waiting.push_back(ids.next());
                        commands.emplace_back(task(waiting.back(), name));
                    }
                    ++given;
                }
                return commands;
            };
            while (is_going()) { send(*client, request(false)); }
            while (!waiting.empty()) { send(*client, request(true)); }
        });
        print("");
    }

    /// Tasks that wait: `tasks` in all, whose owners keep them.
    void fill() {
        in_threads(options_.clients, [&](std::size_t i) {
            const auto name = "c" + std::to_string(i);
            auto client = made(i, name);
            auto ids = Ids{i};
            for (auto left = options_.tasks / options_.clients; left > 0;) {
                auto commands = std::vector<Command>{};
                while (commands.size() < std::min(options_.batch, left)) {
                    commands.emplace_back(task(ids.next(), name));
                }
                left -= commands.size();
                send(*client, commands);
            }
        });
        print("");
    }

    /// Gateways that submit tasks, hear of their leases by a stream of events, and complete them.
    void loop() {
        auto started = std::vector<Clock::time_point>{};
        auto started_mutex = std::mutex{};
        tally_.begin(options_.seconds);
        in_threads(options_.gateways, [&](std::size_t i) {
            const auto name = "g" + std::to_string(i);
            auto mutex = std::mutex{};
            auto heard = std::condition_variable{};
            auto leases = std::deque<allot::Lease>{};
            auto lost = std::size_t{0};  // tasks that ended in another way
            auto is_open = false;
            auto is_over = std::atomic<bool>{false};
            const auto listener =
                Joined{is_over, [&] {
                           const auto opened = [&] {
                               const auto guard = std::lock_guard{mutex};
                               is_open = true;
                               heard.notify_one();
                           };
                           const auto tell = [&](std::string_view text) {
                               const auto json = allot::Json::parse(text);
                               const auto& kind = json["event"];
                               if (kind == "TaskTimedOut" || kind == "TaskEvicted") {
                                   const auto guard = std::lock_guard{mutex};
                                   ++lost;
                               }
                               if (kind != "TaskStarted") { return; }
                               const auto lease = allot::read_json<allot::Lease>(json["lease"].dump()).value();
                               {
                                   const auto guard = std::lock_guard{started_mutex};
                                   started.push_back(Clock::now());
                               }
                               const auto guard = std::lock_guard{mutex};
                               leases.push_back(lease);
                               heard.notify_one();
                           };
                           try {
                               made(i, name)->follow("/v1/owners/" + name + "/events", is_over, opened, tell);
                           } catch (const std::exception& failure) { fail(failure); }
                       }};
            const auto client = made(i, name);
            auto ids = Ids{i + 16};
            const auto in_flight_max = options_.nodes / options_.gateways;  // so that no queue overflows
            auto in_flight = std::size_t{0};
            auto guard = std::unique_lock{mutex};
            heard.wait_for(guard, 5s, [&] { return is_open; });
            for (auto give_up_at = Clock::time_point::max(); Clock::now() < give_up_at && !has_failed_;) {
                const auto is_last = !is_going();
                if (is_last) { give_up_at = std::min(give_up_at, tally_.ends_at() + 3s); }
                auto commands = std::vector<Command>{};
                in_flight -= std::min(in_flight, std::exchange(lost, 0));
                for (; !leases.empty() && commands.size() < options_.batch; leases.pop_front(), --in_flight) {
                    commands.emplace_back(command::Complete{leases.front()});
                }
                for (; !is_last && in_flight < in_flight_max && commands.size() < options_.batch; ++in_flight) {
                    commands.emplace_back(task(ids.next(), name));
                }
                if (is_last && commands.empty() && in_flight == 0) { break; }
                if (commands.empty()) {
                    heard.wait_for(guard, 10ms);
                    continue;
                }
                guard.unlock();
                send(*client, commands);
                guard.lock();
            }
        });
        std::erase_if(started, [&](auto at) { return at > tally_.ends_at(); });
        print(", \"tasks_per_s\": " + std::to_string(static_cast<double>(started.size()) / tally_.seconds()) +
              ", \"start_stall_ms\": " + std::to_string(Tally::stall_ms(started)));
    }

private:
    auto made(std::size_t i, const std::string& name) const -> std::unique_ptr<Client> {
        return std::make_unique<Client>(fronts_, i, Account{name, options_.secret});
    }
    static auto task(const allot::TaskId& id, const std::string& owner) -> command::Submit {
        auto spec = allot::TaskSpec{.id = id, .vram_min = allot::Gibibytes{8}};
        spec.fee = allot::Amount{id.bytes().back() + 1U};
        spec.duration_estimate = allot::Duration{60'000};
        spec.owner = allot::OwnerId{owner};
        return {std::move(spec)};
    }
    auto body_of(const std::vector<Command>& commands) const -> std::string {
        if (!options_.is_json) { return as_text(allot::encode(commands)); }
        auto out = std::string{};
        for (const auto& one : commands) { (out += allot::write_json(one)) += '\n'; }
        return out;
    }
    void send(Client& client, const std::vector<Command>& commands) {
        const auto body = body_of(commands);
        const auto sent = Clock::now();
        const auto told = client.send(body, options_.is_json ? "application/jsonl" : "application/x-allot");
        tally_.answered(sent, commands.size());
        auto refused = std::uint64_t{0};
        constexpr auto sign = std::string_view{R"("accepted":false)"};
        for (auto at = told.text.find(sign); at != std::string::npos; at = told.text.find(sign, at + 1)) { ++refused; }
        tally_.count(told.resent, told.is_duplicate, refused);
    }

    [[nodiscard]] auto is_going() const -> bool { return !tally_.is_over() && !has_failed_; }

    template <class F>
    void in_threads(std::size_t count, F&& f) {
        auto threads = std::vector<std::thread>{};
        for (std::size_t i = 0; i < count; ++i) {
            threads.emplace_back([&, i] {
                try {
                    f(i);
                } catch (const std::exception& failure) { fail(failure); }
            });
        }
        for (auto& thread : threads) { thread.join(); }
        if (has_failed_) { throw std::runtime_error{failure_}; }
    }
    void print(const std::string& more) { std::cout << '{' << tally_.json() << more << "}\n"; }
    void fail(const std::exception& failure) {
        const auto guard = std::lock_guard{failure_mutex_};
        failure_ = failure.what();
        has_failed_ = true;
    }

    const Options& options_;
    std::vector<Front> fronts_{};
    Tally tally_{};
    std::mutex failure_mutex_{};
    std::string failure_{};
    std::atomic<bool> has_failed_{false};
};

}  // namespace

int main(int argc, char** argv) try {
    auto options = Options{};
    auto app = CLI::App{"Loads fronts of the service and prints what its clients saw."};
    app.require_subcommand(1);
    app.fallthrough();
    app.add_option("--front", options.fronts, "ADDR:PORT of a front; several, if clients may go to the next");
    app.add_option("--secret", options.secret, "Secret of all clients");
    app.add_flag("--json", options.is_json, "JSON Lines instead of binary bodies");
    app.add_option("--clients", options.clients, "Number of owners, each with one request in flight");
    app.add_option("--gateways", options.gateways, "Number of gateways");
    app.add_option("--nodes", options.nodes, "Number of nodes");
    app.add_option("--tasks", options.tasks, "Number of tasks that `fill` submits");
    app.add_option("--batch", options.batch, "Commands in a request, at most");
    app.add_option("--seconds", options.seconds, "Length of `open` and `loop`");
    app.add_subcommand("accounts", "Prints the clients' file that the service is started with")->callback([&] {
        Run{options}.accounts();
    });
    app.add_subcommand("join", "Joins the nodes")->callback([&] { Run{options}.join(); });
    app.add_subcommand("open", "Owners submit and cancel")->callback([&] { Run{options}.open(); });
    app.add_subcommand("fill", "Owners submit tasks that wait")->callback([&] { Run{options}.fill(); });
    app.add_subcommand("loop", "Gateways submit, hear of leases, complete")->callback([&] { Run{options}.loop(); });
    CLI11_PARSE(app, argc, argv);
    return 0;
} catch (const std::exception& failure) {
    std::cerr << "load: " << failure.what() << '\n';
    return 1;
}
