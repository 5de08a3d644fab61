// allotd: a network in a folder, served over HTTP. README.md tells how to use it.
#include <algorithm>
#include <charconv>
#include <csignal>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <sys/resource.h>

#include "clients.hpp"
#include "engine.hpp"
#include "front.hpp"
#include "server.hpp"

namespace {

auto text_of(const std::string& path) -> std::string {
    auto file = std::ifstream{path, std::ios::binary};
    if (!file) { throw std::runtime_error{path + ": cannot be read"}; }
    return {std::istreambuf_iterator<char>{file}, {}};
}

auto endpoint_of(const std::string& text) -> boost::asio::ip::tcp::endpoint {
    const auto colon = text.rfind(':');
    if (colon == std::string::npos) { throw std::runtime_error{"--listen: ADDR:PORT is expected"}; }
    auto address = text.substr(0, colon);
    if (address.size() > 2 && address.front() == '[') { address = address.substr(1, address.size() - 2); }
    auto error = boost::system::error_code{};
    const auto ip = boost::asio::ip::make_address(address, error);
    auto port = std::uint16_t{0};
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + colon + 1, end, port);
    if (error || read.ec != std::errc{} || read.ptr != end) {
        throw std::runtime_error{"--listen: ADDR:PORT is expected, such as 127.0.0.1:8321"};
    }
    return {ip, port};
}

#ifdef ALLOT_SERVICE_ETCD
/// The parts between commas, without a leading http:// or https://, which etcd's own tools write.
auto split(const std::string& text) -> std::vector<std::string> {
    auto out = std::vector<std::string>{};
    auto in = std::istringstream{text};
    for (auto part = std::string{}; std::getline(in, part, ',');) {
        const auto scheme = part.find("://");
        out.push_back(scheme == std::string::npos ? part : part.substr(scheme + 3));
    }
    return out;
}

/// The files of a connection to etcd. Throws a sentence if one is missing or they do not fit together.
auto read_tls(const std::string& ca, const service::TlsFiles& own) -> service::etcd::Tls {
    if (own.certificate.empty() != own.key.empty() || (ca.empty() && !own.key.empty())) {
        throw std::runtime_error{"--etcd-certificate: needs --etcd-key and --etcd-ca"};
    }
    if (ca.empty()) { return {}; }
    auto out = service::etcd::Tls{text_of(ca), {}, {}};
    // gRPC tells nothing of a file that it cannot use.
    auto check = boost::asio::ssl::context{boost::asio::ssl::context::tls};
    const auto use = [](const std::string& path, auto&& read) {
        try {
            read();
        } catch (const boost::system::system_error& error) { throw std::runtime_error{path + ": " + error.what()}; }
    };
    use(ca, [&] { check.add_certificate_authority(boost::asio::buffer(out.roots)); });
    if (!own.key.empty()) {
        out.certificate = text_of(own.certificate);
        out.key = text_of(own.key);
        use(own.certificate, [&] { check.use_certificate_chain(boost::asio::buffer(out.certificate)); });
        use(own.key, [&] { check.use_private_key(boost::asio::buffer(out.key), boost::asio::ssl::context::pem); });
    }
    return out;
}
#endif

/// Each connection is an open file.
void raise_file_limit() {
    auto limit = ::rlimit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) { return; }
    limit.rlim_cur = limit.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int main(int argc, char** argv) try {
    auto options = service::Engine::Options{};
    options.preset = service::presets().front().name;
    auto listen = std::string{"127.0.0.1:8321"};
    auto clients_path = std::string{};
    auto parameters_path = std::string{};
    auto stake_cap = std::uint64_t{400};
    auto tls = service::TlsFiles{};
    auto shows_routes = false;
    auto app = CLI::App{"Decides which GPU node runs which task, and keeps it in a folder or, with replicas, in etcd."};
    const auto not_negative = [](const std::string& text) {  // else it would be read as a number near 2^64
        return text.starts_with('-') ? std::string{"expected a whole number from 0"} : std::string{};
    };
    app.add_option("--data", options.folder, "Folder of the log and the snapshots");
#ifdef ALLOT_SERVICE_ETCD
    auto cluster = service::ClusterOptions{};
    auto etcd = std::string{};
    auto etcd_ca = std::string{};
    auto etcd_tls = service::TlsFiles{};
    app.add_option("--etcd", etcd, "Members of etcd, HOST:PORT,HOST:PORT,...: a replica, whose log is etcd's");
    app.add_option("--etcd-ca", etcd_ca, "Certificates that sign those of etcd, in PEM form: TLS to etcd");
    app.add_option("--etcd-certificate", etcd_tls.certificate, "This replica's chain of certificates, for etcd");
    app.add_option("--etcd-key", etcd_tls.key, "Private key of that certificate");
    app.add_option("--cluster", cluster.name, "Name of the cluster, the same for all its replicas");
    app.add_option("--id", cluster.id, "Number of this replica, from 0")->check(not_negative);
    app.add_option("--replicas", cluster.replicas, "Number of replicas")
        ->check(CLI::Range(std::uint32_t{1}, allot::ReplicaParameters{}.leaders_max))
        ->capture_default_str();
    app.add_option("--checkpoints", cluster.checkpoints, "Folder of checkpoints that all replicas share");
#endif
    app.add_option("--listen", listen, "Address and port")->capture_default_str();
    app.add_option("--certificate", tls.certificate, "Chain of certificates in PEM form: HTTPS in place of HTTP");
    app.add_option("--key", tls.key, "Private key of the certificate");
    app.add_option(
           "--preset", options.preset,
           "Policies: " +
               [] {
                   auto all = std::string{};
                   for (const auto& preset : service::presets()) { (all += all.empty() ? "" : ", ") += preset.name; }
                   return all;
               }())
        ->capture_default_str();
    app.add_option("--parameters", parameters_path, "JSON Lines of Configure commands, the operator's first");
    app.add_option("--clients", clients_path, "JSON Lines of clients; without it the port is open to this machine");
    app.add_option("--stake-cap", stake_cap, "Of the preset hardened: stake of a large honest node")
        ->check(not_negative)
        ->check(CLI::Range(std::uint64_t{1}, ~std::uint64_t{0}))
        ->capture_default_str();
    app.add_option("--checkpoint-every", options.checkpoint_every,
                   "Entries between snapshots; 200,000 by default, and 20,000 with --etcd; 0: none")
        ->check(not_negative);
    app.add_option("--events", options.events_max, "Number of events kept for readers")
        ->check(not_negative)
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32U))
        ->capture_default_str();
    app.add_flag("--routes", shows_routes, "Prints all routes and ends");
    app.set_version_flag("--version", std::string{service::release()}, "Prints the release and ends");
    CLI11_PARSE(app, argc, argv);

    if (shows_routes) {
        for (const auto& route : service::routes()) { std::cout << route.method << ' ' << route.path << '\n'; }
        return 0;
    }
    if (options.folder.empty()) { throw std::runtime_error{"--data: a folder is expected"}; }
#ifdef ALLOT_SERVICE_ETCD
    if (!etcd.empty()) {
        cluster.addresses = split(etcd);
        cluster.tls = read_tls(etcd_ca, etcd_tls);
        if (cluster.tls.roots.empty() && etcd.find("https://") != std::string::npos) {
            throw std::runtime_error{"--etcd: https needs --etcd-ca"};
        }
        if (cluster.name.empty() || app.count("--id") == 0) {
            throw std::runtime_error{"--etcd: needs --cluster and --id"};
        }
        if (cluster.id >= cluster.replicas) { throw std::runtime_error{"--id: a number below --replicas is expected"}; }
        if (app.count("--checkpoint-every") == 0) { options.checkpoint_every = 20'000; }
        options.cluster = std::move(cluster);
    } else if (!cluster.name.empty()) {
        throw std::runtime_error{"--cluster: needs --etcd"};
    }
#endif
    options.stake_cap = allot::Amount{stake_cap};
    if (!parameters_path.empty()) { options.parameters = text_of(parameters_path); }
    auto clients = service::Clients{};
    if (!clients_path.empty()) {
        auto read = service::Clients::read(text_of(clients_path));
        if (!read) { throw std::runtime_error{clients_path + ": " + read.error()}; }
        clients = *std::move(read);
    }
    if (tls.certificate.empty() != tls.key.empty()) { throw std::runtime_error{"--certificate: needs --key"}; }
    const auto at = endpoint_of(listen);
    if (clients.is_open() && !at.address().is_loopback()) {
        throw std::runtime_error{"--listen: without --clients only this machine may connect; use 127.0.0.1"};
    }
    const auto& all = service::presets();
    const auto preset = std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.name == options.preset; });
    if (preset == all.end()) { throw std::runtime_error{"--preset: there is none of this name; see --help"}; }

    raise_file_limit();
    std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of its write, as a full disk is
    const auto engine = preset->open(options);
    auto front = service::Front{*engine, clients};
    auto server = service::Server{*engine, front, at, tls};
    std::cout << "allotd: http" << (tls.key.empty() ? "://" : "s://") << at.address() << ':' << server.port()
              << "/ preset " << options.preset << ", data " << options.folder << std::endl;
    if (server.run()) {
        std::cout << "allotd: stopped; all that was acknowledged is in "
                  << (options.cluster ? "etcd" : options.folder.c_str()) << std::endl;
        return 0;
    }
    std::cerr << "allotd: " << engine->fault() << '\n';
    return engine->exit_status();
} catch (const std::exception& failure) {
    std::cerr << "allotd: " << failure.what() << '\n';
    return 1;
}
