#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <openssl/rand.h>

#include <allot/allot.hpp>
#include <allot/dispatcher/look.hpp>
#include <allot/explain/metrics.hpp>
#include <allot/explain/node.hpp>
#include <allot/explain/probabilities.hpp>
#include <allot/explain/task.hpp>
#include <allot/json.hpp>
#include <allot/replica/replica.hpp>

#include "../metrics/prometheus.hpp"
#include "beacon.hpp"
#include "engine.hpp"
#include "files.hpp"
#include "permission.hpp"
#include "shown.hpp"

namespace service {

/// What an engine takes from clients and shows of its replica, for any log. The log is the derived engine's.
template <class Dispatcher>
class ReplicaEngine : public Engine {
protected:
    using Clock = std::chrono::steady_clock;
    using Command = typename Dispatcher::Command;
    using Entry = allot::Entry<Command>;
    using Body = typename Entry::Body;
    using Request = allot::Request<Command>;

public:
    void request(const Client& client, const allot::SessionId& session, std::uint64_t seq, std::string_view body,
                 bool is_binary, std::string_view signature, Done done) final {
        auto asked = Request{session, seq, {}, {}};
        if (const auto problem = read_commands(body, is_binary, replica().parameters().commands_max, asked.commands)) {
            return done({problem, {}});
        }
        asked.signature.assign(signature.begin(), signature.end());
        admit({&client, std::move(asked), std::move(done)}, is_alone());
    }

    void operate(std::uint64_t seq, std::string_view body, bool is_binary, Done done) final {
        auto commands = std::vector<Command>{};
        if (const auto problem = read_commands(body, is_binary, replica().parameters().commands_max, commands)) {
            return done({problem, {}});
        }
        bodies_.push_back({allot::entry::Operator<Command>{seq, std::move(commands)}, std::move(done)});
    }

    void open_session(const Client& client, const allot::SessionId& session, Done done) final {
        bodies_.push_back({allot::entry::Register{session, client.id, {}}, std::move(done)});
    }

    void stop() final {
        give_up(Clock::now(),
                {503, "replica_stopped", "ask again with the same session and seq, at another replica", 1});
    }

    auto node(const allot::NodeId& id) -> Answer final {
        const auto view = allot::find_node(replica().dispatcher(), id);
        if (!view) { return {Problem{404, "node_unknown", "no node of this id has joined; send Join"}, {}}; }
        return with_place(json_of_node(*view));
    }
    auto task(const allot::TaskId& id) -> Answer final {
        const auto view = allot::find_task(replica().dispatcher(), id);
        if (!view) {
            return {Problem{404, "task_unknown", "no task of this id was submitted, or it was forgotten"}, {}};
        }
        return with_place(json_of_task(*view));
    }
    auto nodes(std::uint64_t cursor, std::size_t limit) -> Page final {
        auto page = Page{};
        const auto& table = replica().dispatcher().state().nodes();
        page.next = each_from(table, cursor, limit, [&](auto h) {
            page.items.push_back(json_of_node(allot::detail::view_of(replica().dispatcher(), h)));
            return true;
        });
        return page;
    }
    auto tasks(std::uint64_t cursor, std::size_t limit, std::optional<allot::TaskState> state) -> Page final {
        auto page = Page{};
        const auto& table = replica().dispatcher().state().tasks();
        page.next = each_from(table, cursor, limit, [&](auto h) {
            const auto view = allot::detail::view_of(replica().dispatcher(), h);
            if (state && view.state != *state) { return false; }
            page.items.push_back(json_of_task(view));
            return true;
        });
        return page;
    }
    auto explain_node(const allot::NodeId& id) -> Answer final {
        recorder_.explained();
        return explained(allot::explain(replica().dispatcher(), id));
    }
    auto explain_task(const allot::TaskId& id) -> Answer final {
        recorder_.explained();
        return explained(allot::explain(replica().dispatcher(), id));
    }
    auto probabilities(const allot::TaskId& id) -> Answer final {
        return explained(allot::probabilities(replica().dispatcher(), id));
    }

    auto status() -> allot::Json final {
        const auto& d = replica().dispatcher();
        auto out = allot::Json::object();
        out["preset"] = options_.preset;
        out["release"] = release();
        out["index"] = replica().index();
        out["position"] = replica().position();
        out["time"] = replica().now().time_since_epoch().count();
        out["events_hash"] = hex_of(replica().events_hash());
        out["nodes"] = d.state().present();
        out["queued"] = d.queued();
        out["queue_capacity"] = d.queue_capacity();
        out["leases"] = d.state().leases().size();
        out["sessions"] = replica().clients().size();
        out["operator_seq"] = replica().operator_seq();
        out["events"] = {{"first", log_.first()}, {"next", log_.next()}};
        out["began"] = began_.time_since_epoch().count();
        add_status(out);
        return out;
    }
    auto root() -> allot::Json final {
        const auto root = hex_of(state_root());
        return {{"index", replica().index()}, {"root", root}, {"events", hex_of(replica().events_hash())}};
    }
    auto metrics() -> std::string final {
        auto out = ::metrics::Exposition{};
        const auto network = recorder_.metrics(replica().dispatcher());
        ::metrics::write_events(out, network);
        ::metrics::write_state(out, network);
        out.one("allot_counters_began_timestamp_seconds", "gauge", "Unix time at which all counters were zero.",
                ::metrics::seconds(static_cast<std::uint64_t>(began_.time_since_epoch().count())));
        out.one("allot_log_index", "counter", "Entries applied since the log began.", replica().index());
        out.one("allot_log_time_seconds", "gauge", "Log time, Unix.",
                ::metrics::seconds(static_cast<std::uint64_t>(replica().now().time_since_epoch().count())));
        out.one("allot_sessions", "gauge", "Open sessions of clients.", replica().clients().size());
        add_metrics(out);
        return out.text();
    }
    auto events() -> EventLog& final { return log_; }

protected:
    /// A request that was read, and the one who waits for its answer.
    struct Asked {
        const Client* client;
        Request request;
        Done done;
        Clock::time_point since = Clock::now();
    };
    /// An entry to be appended, and the one who waits for its answer, if any.
    struct Proposal {
        Body body;
        Done done{};
        Clock::time_point since = Clock::now();
    };

    /// Takes the folder only once the parameters are known to be good, so that a mended file counts at the next start.
    ReplicaEngine(const Options& options, const Dispatcher& composed)
        : options_{options}, log_{options.events_max}, parameters_{first_parameters()},
          first_commands_{first_commands(composed)}, beacon_{claimed()} {
        auto life = std::uint32_t{0};
        if (RAND_bytes(reinterpret_cast<unsigned char*>(&life), sizeof life) != 1) {
            throw std::runtime_error{"the system gives no random bytes"};
        }
        nonce_ = std::uint64_t{life} << 32U;  // an answer to an earlier life of this program is for no one here
    }

    [[nodiscard]] virtual auto replica() const -> const allot::Replica<Dispatcher>& = 0;
    [[nodiscard]] virtual auto state_root() -> allot::Hash256 = 0;
    virtual void add_status(allot::Json& out) const = 0;
    virtual void add_metrics(::metrics::Exposition& out) const = 0;
    /// True if no other replica takes requests, so that this one has seen all of them.
    [[nodiscard]] virtual auto is_alone() const -> bool = 0;

    static auto wall() -> allot::TimePoint { return allot::network_time(std::chrono::system_clock::now()); }
    auto next_nonce() -> std::uint64_t { return ++nonce_; }

    /// Queues the request, or answers it. A gap is told, or a task called foreign, only if the replica is certain to
    /// have seen all that the client may have sent before, perhaps to another replica.
    void admit(Asked asked, bool is_certain) {
        const auto& [session, seq, commands, signature] = asked.request;
        using allot::Verdict;
        const auto* known = replica().clients().find(session);
        if (known != nullptr && known->client != asked.client->id) {
            return asked.done(
                {Problem{403, "session_of_another", "open a session of your own; draw its id at random"}, {}});
        }
        const auto verdict = replica().check(asked.request);
        const auto is_next = verdict == Verdict::applied;
        const auto refused =
            is_next ? std::find_if_not(commands.begin(), commands.end(),
                                       [&](const Command& command) {
                                           return is_permitted(*asked.client, command, replica().dispatcher());
                                       })
                    : commands.end();
        const auto is_doubtful =
            verdict == Verdict::gap || verdict == Verdict::session_unknown || refused != commands.end();
        if (is_doubtful && !is_certain) {
            doubtful_.push_back(std::move(asked));
            return;
        }
        if (verdict == Verdict::duplicate) {
            const auto& last = *replica().last_of(session);
            return asked.done(answer({session, seq, last.index, verdict, last.answers}));
        }
        if (!is_next) { return asked.done(answer({session, seq, 0, verdict, {}})); }
        if (refused != commands.end()) {
            const auto at = std::to_string(refused - commands.begin() + 1);
            return asked.done(
                {Problem{403, "foreign", "command " + at + " is not for this client's own node or owner"}, {}});
        }
        auto& all = waiting_[{session, seq}];
        all.push_back({std::move(asked.done), Clock::now()});
        // A copy has the same answer.
        if (all.size() == 1) { batch_.push_back(std::move(asked.request)); }
    }

    /// Takes the requests that share the next entry, the oldest first: what fits, and at least one. `each` gets the
    /// encoding of each.
    template <class Each>
    auto take_requests(const Each& each) -> std::vector<Request> {
        auto bytes = std::size_t{0};
        auto taken = std::vector<Request>{};
        const auto fits = [&](const Request& request) {
            const auto encoding = allot::encode(request);
            bytes += encoding.size();
            if (!taken.empty() && bytes > entry_bytes_max) { return false; }
            each(encoding);
            return true;
        };
        auto at = batch_.begin();
        for (; at != batch_.end() && fits(*at); ++at) { taken.push_back(std::move(*at)); }
        batch_.erase(batch_.begin(), at);
        return taken;
    }

    /// The nonce under which a proposal is appended now.
    auto begun(Proposal& proposal) -> std::uint64_t {
        const auto nonce = next_nonce();
        if (proposal.done) { proposed_[nonce] = {std::move(proposal.done), proposal.since}; }
        return nonce;
    }

    /// The entry that a leader appends now, if it is time: tasks wait, a deadline has passed, or a second went by.
    auto due_tick(allot::TimePoint now) -> std::optional<Body> {
        const auto due = replica().dispatcher().next_deadline();
        const auto is_idle = replica().dispatcher().queued() == 0 && (!due || *due > now);
        if (is_idle && replica().last_tick() && Clock::now() < ticked_ + tick_idle) { return std::nullopt; }
        ticked_ = Clock::now();
        const auto* chain = replica().chain(replica().id());
        const auto round = chain == nullptr ? 1 : chain->number == beacon_.number() ? chain->round + 1 : 1;
        // A new chain counts after `head_delay`; until then nothing is drawn.
        if (round > beacon_.length()) { return renew_chain(); }
        return allot::entry::Tick{round, beacon_.link(round)};
    }
    /// The head of a chain of this replica, to be appended unless the log goes on with the one it has.
    auto due_head() -> std::optional<Body> {
        const auto* chain = replica().chain(replica().id());
        if (chain != nullptr && beacon_.continues(*chain)) { return std::nullopt; }
        return renew_chain();
    }

    void hear(allot::EffectId id, const allot::Event& event) {
        log_.add(id, event);
        heard_.push_back(event);
    }
    /// Passes on what was heard since the last call.
    void record() {
        recorder_.hear(replica().dispatcher(), heard_);
        heard_.clear();
    }

    /// Gives the answer to a request to all who wait for it.
    void give(const allot::Reply& reply) {
        const auto found = waiting_.find({reply.session, reply.seq});
        if (found == waiting_.end()) { return; }
        const auto all = std::move(found->second);
        waiting_.erase(found);
        for (const auto& one : all) { one.done(answer(reply)); }
    }
    /// Gives the answer to a proposal that is no request.
    void give(std::uint64_t nonce, const allot::Reply& reply) {
        const auto found = proposed_.find(nonce);
        if (found == proposed_.end()) { return; }
        const auto one = std::move(found->second);
        proposed_.erase(found);
        one.done(answer(reply));
    }
    /// Gives a problem to all who wait since before a time. What was not yet appended of theirs is dropped.
    void give_up(Clock::time_point before, const Problem& problem) {
        auto given_up = std::vector<Done>{};
        const auto is_old = [&](auto& one) {
            if (one.since > before || !one.done) { return false; }
            given_up.push_back(std::move(one.done));
            return true;
        };
        std::erase_if(doubtful_, is_old);
        std::erase_if(settling_, is_old);
        std::erase_if(bodies_, is_old);
        for (auto at = proposed_.begin(); at != proposed_.end();) {
            at = is_old(at->second) ? proposed_.erase(at) : std::next(at);
        }
        const auto had = waiting_.size();
        for (auto at = waiting_.begin(); at != waiting_.end();) {
            std::erase_if(at->second, is_old);
            at = at->second.empty() ? waiting_.erase(at) : std::next(at);
        }
        if (waiting_.size() < had) {
            std::erase_if(batch_, [&](const Request& r) { return !waiting_.contains({r.session, r.seq}); });
        }
        for (const auto& done : given_up) { done({problem, {}}); }
    }

    /// Reads commands as far as an entry may hold them.
    static auto read_commands(std::string_view body, bool is_binary, std::size_t commands_max,
                              std::vector<Command>& out) -> std::optional<Problem> {
        const auto too_many = [] {
            return answer({allot::SessionId::null(), 0, 0, allot::Verdict::too_many_commands, {}}).problem;
        };
        if (is_binary) {
            if (commands_told(body) > commands_max) { return too_many(); }  // each takes 320 bytes once it is read
            auto read = allot::decode<std::vector<Command>>(
                std::span{reinterpret_cast<const std::uint8_t*>(body.data()), body.size()});
            if (!read) { return Problem{400, "malformed", "the body is not `encode` of a list of commands"}; }
            out = *std::move(read);
        }
        for (auto line = std::size_t{1}; !is_binary && !body.empty(); ++line) {
            const auto end = std::min(body.find('\n'), body.size());
            const auto text = body.substr(0, end);
            body.remove_prefix(std::min(end + 1, body.size()));
            if (text.find_first_not_of(" \t\r") == std::string_view::npos) { continue; }
            auto read = allot::read_json<Command>(text);
            if (!read) {
                read.error().line = line;
                return Problem{400, "malformed", read.error().message()};
            }
            if (out.size() == commands_max) { return too_many(); }
            out.push_back(*std::move(read));
        }
        if (out.empty()) { return Problem{400, "malformed", "send one command a line, at least one"}; }
        return std::nullopt;
    }

    auto first_parameters() const -> allot::ReplicaParameters {
        auto parameters = allot::ReplicaParameters{};
        parameters.replicas = options_.cluster ? options_.cluster->replicas : 1;
        if (!options_.cluster) { parameters.attest_every = parameters.state_every = 0; }  // no one to compare with
        return parameters;
    }
    /// The commands of --parameters, for a new log, which a dispatcher without records was seen to take.
    auto first_commands(const Dispatcher& composed) const -> std::vector<Command> {
        auto commands = std::vector<Command>{};
        const auto& text = options_.parameters;
        if (text.find_first_not_of(" \t\r\n") == std::string::npos) { return commands; }
        if (text.size() > parameters_bytes_max) {
            throw std::runtime_error{"--parameters: more than 1 MiB is no entry"};
        }
        if (const auto problem = read_commands(text, false, parameters_.commands_max, commands)) {
            throw std::runtime_error{"--parameters: " + problem->detail};
        }
        auto trial = allot::Replica<Dispatcher>{composed, 0};
        (void)trial.apply_decoded(1, {0, 1, wall(), allot::entry::Parameters{1, parameters_}});
        const auto effects = trial.apply_decoded(2, {0, 2, wall(), allot::entry::Operator<Command>{2, commands}});
        auto line = std::size_t{0};
        auto rest = std::istringstream{text};
        for (const auto& error : effects.replies.at(0).answers) {
            for (auto one = std::string{}; one.find_first_not_of(" \t\r") == std::string::npos; ++line) {
                std::getline(rest, one);
            }
            if (!error) { continue; }
            throw std::runtime_error{"--parameters: line " + std::to_string(line) +
                                     " is refused: " + std::string{message(*error)}};
        }
        return commands;
    }
    auto claimed() const -> const std::string& {
        claim(options_.folder, options_.preset, allot::to_decimal(options_.stake_cap.units));
        return options_.folder;
    }

    Options options_;
    EventLog log_;
    allot::TimePoint began_ = wall();
    allot::ReplicaParameters parameters_;  // of a new log
    std::vector<Command> first_commands_;  // of a new log, behind them
    std::vector<Request> batch_{};         // to be appended, as many in one entry as fit
    std::deque<Proposal> bodies_{};        // to be appended, each as an entry
    std::vector<Asked> doubtful_{};        // requests that this replica may know too little to judge
    std::vector<Asked> settling_{};        // of these, those that an entry on its way will settle

private:
    struct Waiting {
        Done done{};
        Clock::time_point since{};
    };

    static constexpr auto tick_idle = std::chrono::seconds{1};
    static constexpr auto entry_bytes_max = std::size_t{1} << 20U;  // etcd takes 1.5 MB, a log of files 16 MiB
    static constexpr auto parameters_bytes_max = entry_bytes_max;   // more might fit into no entry

    auto with_place(allot::Json json) -> Answer {
        json["index"] = replica().index();
        json["event"] = log_.next();
        return {{}, std::move(json)};
    }

    auto renew_chain() -> Body {
        const auto* chain = replica().chain(replica().id());
        const auto logged = chain == nullptr ? 0 : std::max(chain->number, chain->next_number);
        beacon_.renew(std::max(logged, beacon_.number()) + 1);
        return allot::entry::ChainHead{beacon_.number(), beacon_.head()};
    }

    Beacon beacon_;
    std::uint64_t nonce_ = 0;
    Clock::time_point ticked_{};
    std::vector<allot::Event> heard_{};
    allot::MetricsRecorder recorder_{};
    std::map<std::pair<allot::SessionId, std::uint64_t>, std::vector<Waiting>> waiting_{};
    std::map<std::uint64_t, Waiting> proposed_{};  // by nonce
};

}  // namespace service
