// Transactions of one key on etcd by its gRPC API, one in flight for each writer; prints what `load` prints.
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>

#include "etcd/client.hpp"
#include "tally.hpp"

namespace {

using namespace bench;

struct Options {
    std::vector<std::string> etcd{"127.0.0.1:2379"};
    std::size_t writers = 16;
    std::size_t bytes = 100;
    double seconds = 5;
};

void measure(const Options& options) {
    auto tally = Tally{};
    tally.begin(options.seconds);
    auto threads = std::vector<std::thread>{};
    for (std::size_t i = 0; i < options.writers; ++i) {
        threads.emplace_back([&, i] {
            auto client = service::etcd::Client{options.etcd};
            auto transaction = etcdserverpb::TxnRequest{};
            *transaction.add_success() =
                service::etcd::put("raw/" + std::to_string(i), std::string(options.bytes, 'x'));
            while (!tally.is_over()) {
                const auto sent = Clock::now();
                auto answer = etcdserverpb::TxnResponse{};
                const auto status = client.ask([&](const service::etcd::Member& member, grpc::ClientContext& context) {
                    return member.kv->Txn(&context, transaction, &answer);
                });
                if (status.ok()) {
                    tally.answered(sent, 1);
                } else {
                    tally.count(1, false, 0);
                }
            }
        });
    }
    for (auto& thread : threads) { thread.join(); }
    std::cout << '{' << tally.json() << "}\n";
}

}  // namespace

int main(int argc, char** argv) try {
    auto options = Options{};
    auto app = CLI::App{"Writers of one key each on etcd."};
    app.add_option("--etcd", options.etcd, "HOST:PORT of each member; the first is used while it answers");
    app.add_option("--writers", options.writers, "Number of writers, each with a key and one transaction in flight");
    app.add_option("--bytes", options.bytes, "Size of a value");
    app.add_option("--seconds", options.seconds, "Length of the run");
    CLI11_PARSE(app, argc, argv);
    measure(options);
    return 0;
} catch (const std::exception& failure) {
    std::cerr << "raw_etcd: " << failure.what() << '\n';
    return 1;
}
