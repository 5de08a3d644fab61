#include "cluster.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "client.hpp"
#include "ordered_log.hpp"
#include "packed.hpp"

namespace service {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
namespace pb = etcdserverpb;

namespace {

constexpr auto lanes = std::size_t{2};
constexpr auto lease_s = std::int64_t{2};
constexpr auto other_max = 10s;  // a lease of a dead process ends before, also if etcd elects a leader in between
constexpr auto lead_every = 300ms;
constexpr auto retry_after = 100ms;
constexpr auto silence_max = 1'500ms;  // an idle leader ticks each second
constexpr auto page_entries = std::size_t{200};
constexpr auto arrived_bytes_max = std::size_t{64} << 20U;

auto single(const pb::RangeResponse& found) -> ClusterValue {
    return found.kvs_size() == 0 ? ClusterValue{} : ClusterValue{found.kvs(0).value(), found.kvs(0).mod_revision()};
}

}  // namespace

struct Cluster::Threads {
    explicit Threads(const Options& given) : options{given}, client{given.addresses, given.tls} {
        for (std::size_t i = 0; i < lanes; ++i) {
            all.emplace_back([this] { append(); });
        }
        all.emplace_back([this] { read(); });
        all.emplace_back([this] { lead(); });
    }
    ~Threads() {
        stop();
        for (auto& thread : all) { thread.join(); }
    }

    void stop() {
        const auto lock = std::lock_guard{mutex};
        is_stopping = true;
        wake = nullptr;
        if (watching != nullptr) { watching->TryCancel(); }
        changed.notify_all();
        proposed.notify_all();
    }
    auto is_running() -> bool {
        const auto lock = std::lock_guard{mutex};
        return !is_stopping;
    }
    /// Waits; false once all is to end.
    auto pause(Clock::duration time) -> bool {
        auto lock = std::unique_lock{mutex};
        return !changed.wait_for(lock, time, [&] { return is_stopping; });
    }
    /// The mutex is held.
    void tell() {
        if (wake) { wake(); }
    }

    auto transact(const pb::TxnRequest& request) -> std::optional<pb::TxnResponse> {
        auto response = pb::TxnResponse{};
        const auto status =
            client.ask([&](const auto& member, auto& context) { return member.kv->Txn(&context, request, &response); });
        if (!status.ok()) { return std::nullopt; }
        answered = Clock::now();
        return response;
    }
    /// The same, tried until etcd answers; none after `stop`.
    auto transact_at_last(const pb::TxnRequest& request) -> std::optional<pb::TxnResponse> {
        while (is_running()) {
            if (auto response = transact(request)) { return response; }
            (void)pause(retry_after);
        }
        return std::nullopt;
    }
    auto key(const char* name) const -> std::string { return options.name + '/' + name; }

    // ---- appending --------------------------------------------------------------------------------------------------

    void append() {
        auto log = etcd::OrderedLog{client, options.name};
        auto lock = std::unique_lock{mutex};
        while (true) {
            while (!is_stopping && proposals.empty()) {
                if (!wake_time) {
                    proposed.wait(lock);
                } else if (proposed.wait_until(lock, Clock::time_point{*wake_time}) == std::cv_status::timeout) {
                    wake_time.reset();
                    tell();
                }
            }
            if (is_stopping) { return; }
            const auto [nonce, bytes] = std::move(proposals.front());
            proposals.pop_front();
            lock.unlock();
            const auto begun = Clock::now();
            while (is_running() && !log.append(options.id, nonce, bytes)) { (void)pause(retry_after); }
            append_ms = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun).count();
            lock.lock();
            --in_flight;
            tell();
        }
    }

    // ---- reading ----------------------------------------------------------------------------------------------------

    void read() {
        auto log = etcd::OrderedLog{client, options.name};
        while (true) {
            {
                auto lock = std::unique_lock{mutex};
                changed.wait(lock, [&] { return is_stopping || read_after; });
                if (is_stopping) { return; }
            }
            auto page = log.read(*read_after, page_entries);
            if (!page) {
                if (page.error() == allot::OrderedLogError::compacted) {
                    const auto lock = std::lock_guard{mutex};
                    read_after.reset();
                    is_compacted = true;
                    tell();
                } else {
                    (void)pause(retry_after);
                }
                continue;
            }
            answered = Clock::now();
            push(*std::move(page));
            if (!log.is_at_end()) { continue; }
            {
                const auto lock = std::lock_guard{mutex};
                if (!end) { end = read_after; }
                tell();
            }
            watch(log.prefix(), log.revision() + 1);
        }
    }

    /// Passes entries on as they are appended, until the watch breaks.
    void watch(const std::string& prefix, std::int64_t from) {
        const auto used = client.current();
        auto context = grpc::ClientContext{};
        context.set_wait_for_ready(true);
        context.AddMetadata("hasleader", "true");  // a member without a majority ends the watch
        {
            const auto lock = std::lock_guard{mutex};
            if (is_stopping) { return; }
            watching = &context;
            waiting_since = Clock::now();
        }
        const auto stream = client.members()[used].watch->Watch(&context);
        auto request = pb::WatchRequest{};
        auto& create = *request.mutable_create_request();
        create.set_key(prefix);
        create.set_range_end(etcd::end_of(prefix));
        create.set_start_revision(from);
        create.add_filters(pb::WatchCreateRequest::NODELETE);
        create.set_fragment(true);
        auto response = pb::WatchResponse{};
        for (auto is_open = stream->Write(request); is_open && stream->Read(&response) && !response.canceled();) {
            answered = Clock::now();
            auto page = std::vector<allot::LoggedEntry>{};
            for (const auto& event : response.events()) {
                const auto& kv = event.kv();
                page.push_back({static_cast<std::uint64_t>(kv.mod_revision()), etcd::unpacked(kv.value())});
            }
            push(std::move(page));
        }
        {
            const auto lock = std::lock_guard{mutex};
            watching = nullptr;
        }
        context.TryCancel();
        client.note(used, stream->Finish());
    }

    /// Hands entries over, and waits while too many were not yet taken.
    void push(std::vector<allot::LoggedEntry> page) {
        auto lock = std::unique_lock{mutex};
        waiting_since.reset();
        changed.wait(lock, [&] { return is_stopping || arrived_bytes < arrived_bytes_max; });
        if (!page.empty()) { read_after = page.back().position; }
        for (auto& entry : page) {
            arrived_bytes += entry.bytes.size();
            arrived.push_back(std::move(entry));
        }
        waiting_since = Clock::now();
        tell();
    }

    // ---- leading ----------------------------------------------------------------------------------------------------

    /// Holds the id of this replica first. Only a process that holds it may lead.
    void lead() {
        const auto id_key = key("ids/") + std::to_string(options.id);
        auto own = std::int64_t{0};    // the lease of the id
        auto lease = std::int64_t{0};  // that of the leader
        auto is_own = false;           // the key of the id, when last seen
        do {
            const auto begun = Clock::now();
            keep_or_grant(own);
            const auto stands = may_lead && holds_id;
            if (stands) { keep_or_grant(lease); }
            if (!stands && lease != 0) { revoke(std::exchange(lease, 0)); }
            auto request = pb::TxnRequest{};
            const auto claims = !is_own && own != 0;
            const auto tries = !claims && stands && lease != 0;
            if (claims) {
                put_if_absent(request, id_key, std::to_string(own), own);
            } else if (tries) {
                put_if_absent(request, key("leader"), std::to_string(options.id), lease);
            }
            for (auto* branch : {request.mutable_success(), request.mutable_failure()}) {
                for (const auto& name : {key("leader"), key("checkpoint"), id_key}) {
                    *branch->Add() = etcd::get(name);
                }
            }
            const auto response = transact(request);
            if (!response) {
                const auto lock = std::lock_guard{mutex};
                other_since.reset();  // etcd may have given the leases of the dead more time
            } else {
                const auto last = response->responses_size() - 1;
                const auto found = single(response->responses(last - 2).response_range());
                const auto holder = single(response->responses(last).response_range());
                const auto lock = std::lock_guard{mutex};
                is_own = holder.text == std::to_string(own);
                const auto is_other = !is_own && holder.revision != 0;
                holds_id =
                    is_own || (holds_id && !is_other);  // a lease that lapsed on a slow machine is no reason to stop
                if (!is_other) {
                    other_since.reset();
                } else if (!other_since) {
                    other_since = begun;
                }
                seen_checkpoints = single(response->responses(last - 1).response_range());
                leader_id.reset();
                if (found.revision != 0) {
                    leader_id = static_cast<allot::ReplicaId>(std::strtoul(found.text.c_str(), nullptr, 10));
                }
                seen_until = begun + 1s * lease_s;
                if (tries && leader_id == options.id) { leads_until = seen_until; }
            }
        } while (pause(lead_every));
        for (const auto held : {lease, own}) {  // so that another one leads, and the next process begins, at once
            if (held != 0) { revoke(held); }
        }
    }

    static void put_if_absent(pb::TxnRequest& request, const std::string& name, const std::string& value,
                              std::int64_t lease) {
        *request.add_compare() = etcd::is_absent(name);
        auto& own = *request.add_success();
        own = etcd::put(name, value);
        own.mutable_request_put()->set_lease(lease);
    }
    /// Leaves 0 if there is no lease, or none any more.
    void keep_or_grant(std::int64_t& lease) {
        if (lease == 0) {
            lease = granted();
        } else if (!keep(lease)) {
            lease = 0;
        }
    }

    auto granted() -> std::int64_t {
        auto request = pb::LeaseGrantRequest{};
        request.set_ttl(lease_s);
        auto response = pb::LeaseGrantResponse{};
        const auto status = client.ask(
            [&](const auto& member, auto& context) { return member.lease->LeaseGrant(&context, request, &response); });
        return status.ok() ? response.id() : 0;
    }
    void revoke(std::int64_t lease) {
        auto request = pb::LeaseRevokeRequest{};
        request.set_id(lease);
        auto response = pb::LeaseRevokeResponse{};
        (void)client.ask(
            [&](const auto& member, auto& context) { return member.lease->LeaseRevoke(&context, request, &response); });
    }
    /// False if the lease has ended.
    auto keep(std::int64_t lease) -> bool {
        auto response = pb::LeaseKeepAliveResponse{};
        const auto status = client.ask([&](const auto& member, auto& context) {
            const auto stream = member.lease->LeaseKeepAlive(&context);
            auto request = pb::LeaseKeepAliveRequest{};
            request.set_id(lease);
            const auto is_answered = stream->Write(request) && stream->WritesDone() && stream->Read(&response);
            const auto failure = stream->Finish();
            return is_answered ? grpc::Status::OK : failure;
        });
        return !status.ok() || response.ttl() > 0;
    }

    Options options;
    etcd::Client client;
    mutable std::mutex mutex{};
    std::condition_variable changed{};
    std::condition_variable proposed{};  // or `wake_time` was set
    std::function<void()> wake{};
    bool is_stopping = false;

    std::deque<std::pair<std::uint64_t, std::vector<std::uint8_t>>> proposals{};
    std::size_t in_flight = 0;
    std::optional<Clock::time_point> wake_time{};

    std::optional<std::uint64_t> read_after{};
    std::optional<std::uint64_t> end{};  // of the log, when reading began
    std::deque<allot::LoggedEntry> arrived{};
    std::size_t arrived_bytes = 0;
    bool is_compacted = false;
    grpc::ClientContext* watching = nullptr;
    std::optional<Clock::time_point> waiting_since{};  // for etcd, in a watch

    std::atomic<bool> holds_id = false;
    std::optional<Clock::time_point> other_since{};  // that another process holds the id
    std::atomic<bool> may_lead = false;
    std::optional<allot::ReplicaId> leader_id{};
    Clock::time_point seen_until{};
    Clock::time_point leads_until{};
    ClusterValue seen_checkpoints{};

    std::atomic<Clock::time_point> answered{Clock::now()};
    std::atomic<std::int64_t> append_ms = 0;
    std::vector<std::thread> all{};
};

Cluster::Cluster(const Options& options) : threads_{std::make_unique<Threads>(options)} {}
Cluster::~Cluster() = default;

void Cluster::on_work(std::function<void()> wake) {
    const auto lock = std::lock_guard{threads_->mutex};
    threads_->wake = std::move(wake);
}
void Cluster::stop() { threads_->stop(); }

auto Cluster::join(const std::string& version, const std::vector<std::uint8_t>& first) -> std::optional<std::string> {
    auto request = pb::TxnRequest{};
    const auto key = threads_->key("version");
    *request.add_compare() = etcd::is_absent(key);
    *request.add_success() = etcd::put(key, version);
    *request.add_success() =
        etcd::put(threads_->key("log/") + etcd::hex_of(0) + '/' + etcd::hex_of(0), etcd::packed(first));
    *request.add_failure() = etcd::get(key);
    const auto response = threads_->transact_at_last(request);
    if (!response) { return std::nullopt; }
    return response->succeeded() ? version : single(response->responses(0).response_range()).text;
}

auto Cluster::read_checkpoints() -> std::optional<ClusterValue> {
    auto request = pb::TxnRequest{};
    *request.add_success() = etcd::get(threads_->key("checkpoint"));
    const auto response = threads_->transact_at_last(request);
    if (!response) { return std::nullopt; }
    return single(response->responses(0).response_range());
}

auto Cluster::name_checkpoints(const std::string& text, const ClusterValue& known, std::uint64_t through) -> bool {
    auto request = pb::TxnRequest{};
    const auto key = threads_->key("checkpoint");
    auto& compare = *request.add_compare();
    compare.set_target(pb::Compare::MOD);
    compare.set_key(key);
    compare.set_mod_revision(known.revision);
    *request.add_success() = etcd::put(key, text);
    const auto response = threads_->transact(request);
    if (!response || !response->succeeded()) { return false; }
    // What a failure leaves, the next checkpoint drops.
    if (through > 0) { (void)etcd::OrderedLog{threads_->client, threads_->options.name}.compact(through); }
    return true;
}

auto Cluster::checkpoints() const -> ClusterValue {
    const auto lock = std::lock_guard{threads_->mutex};
    return threads_->seen_checkpoints;
}

auto Cluster::can_propose() const -> bool {
    const auto lock = std::lock_guard{threads_->mutex};
    return threads_->in_flight < lanes;
}
void Cluster::propose(std::uint64_t nonce, std::vector<std::uint8_t> bytes) {
    const auto lock = std::lock_guard{threads_->mutex};
    ++threads_->in_flight;
    threads_->proposals.emplace_back(nonce, std::move(bytes));
    threads_->proposed.notify_one();
}

void Cluster::wake_at(Clock::time_point time) {
    const auto lock = std::lock_guard{threads_->mutex};
    threads_->wake_time = time;
    threads_->proposed.notify_all();
}

void Cluster::read_from(std::uint64_t position) {
    const auto lock = std::lock_guard{threads_->mutex};
    threads_->read_after = position;
    threads_->end.reset();
    threads_->is_compacted = false;
    threads_->changed.notify_all();
}
auto Cluster::has_entries() const -> bool {
    const auto lock = std::lock_guard{threads_->mutex};
    return !threads_->arrived.empty();
}
auto Cluster::take(std::size_t count_max) -> std::vector<allot::LoggedEntry> {
    const auto lock = std::lock_guard{threads_->mutex};
    auto& from = threads_->arrived;
    const auto end = from.begin() + static_cast<std::ptrdiff_t>(std::min(count_max, from.size()));
    auto out = std::vector<allot::LoggedEntry>{std::make_move_iterator(from.begin()), std::make_move_iterator(end)};
    from.erase(from.begin(), end);
    const auto was_full = threads_->arrived_bytes >= arrived_bytes_max;
    for (const auto& entry : out) { threads_->arrived_bytes -= entry.bytes.size(); }
    if (was_full) { threads_->changed.notify_all(); }
    return out;
}
auto Cluster::is_compacted() const -> bool {
    const auto lock = std::lock_guard{threads_->mutex};
    return threads_->is_compacted && threads_->arrived.empty();
}
auto Cluster::is_caught_up(std::uint64_t position) const -> bool {
    const auto lock = std::lock_guard{threads_->mutex};
    return threads_->end && position >= *threads_->end;
}
void Cluster::check_silence() {
    const auto lock = std::lock_guard{threads_->mutex};
    auto& since = threads_->waiting_since;
    if (threads_->watching != nullptr && since && Clock::now() - *since > silence_max) {
        threads_->watching->TryCancel();
    }
}

auto Cluster::holds_id() const -> bool { return threads_->holds_id; }
auto Cluster::is_id_taken() const -> bool {
    const auto lock = std::lock_guard{threads_->mutex};
    return threads_->other_since && Clock::now() - *threads_->other_since > other_max;
}

void Cluster::stand(bool may_lead) { threads_->may_lead = may_lead; }
auto Cluster::leads() const -> bool {
    const auto lock = std::lock_guard{threads_->mutex};
    return threads_->may_lead && Clock::now() < threads_->leads_until;
}
auto Cluster::leader() const -> std::optional<allot::ReplicaId> {
    const auto lock = std::lock_guard{threads_->mutex};
    return Clock::now() < threads_->seen_until ? threads_->leader_id : std::nullopt;
}

auto Cluster::is_reached() const -> bool { return Clock::now() - threads_->answered.load() < 3s; }
auto Cluster::status() const -> allot::Json {
    auto out = allot::Json::object();
    out["reached"] = is_reached();
    out["member"] = threads_->client.members()[threads_->client.current()].address;
    out["trouble"] = threads_->client.trouble();
    out["append_ms"] = threads_->append_ms.load();
    return out;
}

}  // namespace service
