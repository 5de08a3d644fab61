// The service's requests against tables of SQL, with the decisions of a Dispatcher; prints what `load` prints. Without
// HTTP, signatures, JSON and choices, which favours the tables.
#include "contestant/tables.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>

#include "contestant/postgres_database.hpp"
#include "contestant/sqlite_database.hpp"
#include "decisions.hpp"
#include "tally.hpp"

namespace {

using namespace bench;

constexpr auto apart = std::int64_t{1} << 32U;  // ids of two clients

struct Options {
    std::string sqlite{};
    std::string postgres{};
    std::size_t clients = 16;
    std::int64_t nodes = 1'000;
    std::size_t batch = 64;
    std::size_t commands = 20'000;
    double seconds = 5;
};

/// One client's requests, one after the other.
template <class Database>
class Script {
public:
    Script(Database& database, std::size_t client, const Options& options)
        : tables_{database}, client_{static_cast<std::int64_t>(client)}, batch_{options.batch},
          decisions_{decisions((client_ + 1) * apart, options.nodes / static_cast<std::int64_t>(options.clients),
                               options.commands)} {}

    /// False at the end of the script.
    auto step(Tally& tally) -> bool {
        const auto size = std::min(batch_, decisions_.size() - done_);
        if (size == 0) { return false; }
        const auto sent = Clock::now();
        tables_.request(client_, ++seq_, std::span{decisions_}.subspan(done_, size));
        tally.answered(sent, size);
        done_ += size;
        return true;
    }

private:
    Tables<Database> tables_;
    std::int64_t client_;
    std::size_t batch_;
    std::vector<Decision> decisions_;
    std::size_t done_ = 0;
    std::uint64_t seq_ = 0;
};

/// SQLite has one writer: clients take turns, and none waits for a lock. PostgreSQL has a connection for each.
template <class Database>
void measure(const std::string& where, const Options& options, std::size_t threads_count) {
    auto tally = Tally{};
    auto databases = std::vector<std::unique_ptr<Database>>{};
    auto scripts = std::vector<std::unique_ptr<Script<Database>>>{};
    for (std::size_t i = 0; i < options.clients; ++i) {
        if (i < threads_count) { databases.push_back(std::make_unique<Database>(where)); }
        if (i == 0) {
            Tables<Database>::create(*databases[0], static_cast<std::int64_t>(options.clients),
                                     options.nodes / static_cast<std::int64_t>(options.clients), apart);
        }
        scripts.push_back(std::make_unique<Script<Database>>(*databases.back(), i, options));
    }
    tally.begin(options.seconds);
    auto failure = std::string{};
    auto mutex = std::mutex{};
    auto threads = std::vector<std::thread>{};
    for (std::size_t t = 0; t < threads_count; ++t) {
        threads.emplace_back([&, t] {
            try {
                for (auto i = t; !tally.is_over() && scripts[i]->step(tally);) {
                    i = i + threads_count < scripts.size() ? i + threads_count : t;
                }
            } catch (const std::exception& error) {
                const auto guard = std::lock_guard{mutex};
                failure = error.what();
            }
        });
    }
    for (auto& thread : threads) { thread.join(); }
    if (!failure.empty()) { throw std::runtime_error{failure}; }
    std::cout << '{' << tally.json() << "}\n";
}

}  // namespace

int main(int argc, char** argv) try {
    auto options = Options{};
    auto app = CLI::App{"The requests of the service against tables of SQL."};
    app.add_option("--sqlite", options.sqlite, "A file that is not there yet");
    app.add_option("--postgres", options.postgres, "Connection string of a database without tables");
    app.add_option("--clients", options.clients, "Number of clients, each with one request in flight");
    app.add_option("--nodes", options.nodes, "Number of nodes, shared out to the clients");
    app.add_option("--batch", options.batch, "Commands in a request, which is one transaction");
    app.add_option("--commands", options.commands, "Commands of each client, at most");
    app.add_option("--seconds", options.seconds, "Length of the run, at most");
    CLI11_PARSE(app, argc, argv);
    if (!options.sqlite.empty()) { measure<SqliteDatabase>(options.sqlite, options, 1); }
    if (!options.postgres.empty()) { measure<PostgresDatabase>(options.postgres, options, options.clients); }
    return 0;
} catch (const std::exception& failure) {
    std::cerr << "tables: " << failure.what() << '\n';
    return 1;
}
