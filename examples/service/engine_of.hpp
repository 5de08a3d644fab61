#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <allot/allot.hpp>
#include <allot/dispatcher/look.hpp>
#include <allot/explain/metrics.hpp>
#include <allot/explain/node.hpp>
#include <allot/explain/probabilities.hpp>
#include <allot/explain/task.hpp>
#include <allot/journal/posix_folder.hpp>
#include <allot/json.hpp>
#include <allot/replica/replica_store.hpp>

#include "../metrics/prometheus.hpp"
#include "beacon.hpp"
#include "engine.hpp"
#include "permission.hpp"

namespace service {

/// The engine of one preset.
template <class Dispatcher>
class EngineOf final : public Engine {
    using Command = typename Dispatcher::Command;
    using Store = allot::ReplicaStore<Dispatcher, allot::PosixFolder>;

public:
    EngineOf(const Options& options, Dispatcher composed)
        : options_{options}, log_{options.events_max}, beacon_{options.folder}, store_{opened(options,
                                                                                              std::move(composed))} {
        began_ = wall();
        is_replaying_ = false;
        // Events before the snapshot are not told again.
        const auto first = first_seen_.value_or(number_of({replica().index() + 1, 0}));
        if (!store_.store().snapshots().empty()) { log_.forget_before(first); }
        if (replica().index() == 0) { set_up(); }
        const auto* chain = replica().chain(0);
        if (chain == nullptr || !beacon_.continues(*chain)) {
            beacon_.renew(chain == nullptr ? 1 : std::max(chain->number, chain->next_number) + 1);
            append(allot::entry::ChainHead{beacon_.number(), beacon_.head()}, wall());
        }
    }

    void request(const Client& client, const allot::SessionId& session, std::uint64_t seq, std::string_view body,
                 bool is_binary, std::string_view signature, Done done) override {
        auto asked = allot::Request<Command>{session, seq, {}, {}};
        if (const auto problem = read_commands(body, is_binary, asked.commands)) { return done({problem, {}}); }
        const auto* known = replica().clients().find(session);
        if (known != nullptr && known->client != client.id) {
            return done({Problem{403, "session_of_another", "open a session of your own; draw its id at random"}, {}});
        }
        const auto verdict = replica().check(asked);
        if (verdict == allot::Verdict::duplicate) {
            const auto& last = *replica().last_of(session);
            return done(answer({session, seq, last.index, verdict, last.answers}));
        }
        if (verdict != allot::Verdict::applied) { return done(answer({session, seq, 0, verdict, {}})); }
        const auto may = [&](const Command& command) { return is_permitted(client, command, replica().dispatcher()); };
        const auto refused = std::find_if_not(asked.commands.begin(), asked.commands.end(), may);
        if (refused != asked.commands.end()) {
            const auto at = std::to_string(refused - asked.commands.begin() + 1);
            return done({Problem{403, "foreign", "command " + at + " is not for this client's own node or owner"}, {}});
        }
        asked.signature.assign(signature.begin(), signature.end());
        waiting_[{session, seq}].push_back(std::move(done));
        batch_.push_back(std::move(asked));
    }

    void operate(std::uint64_t seq, std::string_view body, bool is_binary, Done done) override {
        auto commands = std::vector<Command>{};
        if (const auto problem = read_commands(body, is_binary, commands)) { return done({problem, {}}); }
        waiting_[{allot::SessionId::null(), seq}].push_back(std::move(done));
        bodies_.push_back(allot::entry::Operator<Command>{seq, std::move(commands)});
    }

    void open_session(const Client& client, const allot::SessionId& session, Done done) override {
        opening_[session].push_back(std::move(done));
        bodies_.push_back(allot::entry::Register{session, client.id, {}});
    }

    auto has_work() const -> bool override { return appended_ || !batch_.empty() || !bodies_.empty(); }

    auto turn(allot::TimePoint now) -> bool override {
        for (auto& body : bodies_) { append(std::move(body), now); }
        bodies_.clear();
        if (!batch_.empty()) { append(allot::entry::Requests<Command>{std::exchange(batch_, {})}, now); }
        appended_ = false;
        if (!failed_) { failed_ = store_.sync(sink_); }
        recorder_.hear(replica().dispatcher(), heard_);
        heard_.clear();
        if (failed_) { refuse_all(); }
        return !failed_ && !replica().fault();
    }

    void tick(allot::TimePoint now) override {
        const auto last = replica().last_tick();
        const auto due = replica().dispatcher().next_deadline();
        if (last && replica().dispatcher().queued() == 0 && (!due || *due > now) && now < *last + tick_idle) { return; }
        const auto* chain = replica().chain(0);
        const auto round = chain == nullptr ? 1 : chain->number == beacon_.number() ? chain->round + 1 : 1;
        if (round > beacon_.length()) {
            beacon_.renew(beacon_.number() + 1);  // counts after `head_delay`; until then nothing is drawn
            return append(allot::entry::ChainHead{beacon_.number(), beacon_.head()}, now);
        }
        append(allot::entry::Tick{round, beacon_.link(round)}, now);
    }

    auto fault() const -> std::string override {
        if (failed_) { return options_.folder + ": " + std::string{message(*failed_)}; }
        return replica().fault() ? std::string{message(replica().fault()->error)} : std::string{};
    }

    auto node(const allot::NodeId& id) -> Answer override {
        const auto view = allot::find_node(replica().dispatcher(), id);
        if (!view) { return {Problem{404, "node_unknown", "no node of this id has joined; send Join"}, {}}; }
        auto json = json_of_node(*view);
        json["index"] = replica().index();
        json["event"] = log_.next();
        return {{}, std::move(json)};
    }
    auto task(const allot::TaskId& id) -> Answer override {
        const auto view = allot::find_task(replica().dispatcher(), id);
        if (!view) {
            return {Problem{404, "task_unknown", "no task of this id was submitted, or it was forgotten"}, {}};
        }
        auto json = json_of_task(*view);
        json["index"] = replica().index();
        json["event"] = log_.next();
        return {{}, std::move(json)};
    }
    auto nodes(std::uint64_t cursor, std::size_t limit) -> Page override {
        auto page = Page{};
        const auto& table = replica().dispatcher().state().nodes();
        page.next = each_from(table, cursor, limit, [&](auto h) {
            page.items.push_back(json_of_node(allot::detail::view_of(replica().dispatcher(), h)));
        });
        return page;
    }
    auto tasks(std::uint64_t cursor, std::size_t limit) -> Page override {
        auto page = Page{};
        const auto& table = replica().dispatcher().state().tasks();
        page.next = each_from(table, cursor, limit, [&](auto h) {
            page.items.push_back(json_of_task(allot::detail::view_of(replica().dispatcher(), h)));
        });
        return page;
    }
    auto explain_node(const allot::NodeId& id) -> Answer override {
        recorder_.explained();
        return explained(allot::explain(replica().dispatcher(), id));
    }
    auto explain_task(const allot::TaskId& id) -> Answer override {
        recorder_.explained();
        return explained(allot::explain(replica().dispatcher(), id));
    }
    auto probabilities(const allot::TaskId& id) -> Answer override {
        return explained(allot::probabilities(replica().dispatcher(), id));
    }

    auto status() -> allot::Json override {
        const auto& d = replica().dispatcher();
        auto out = allot::Json::object();
        out["preset"] = options_.preset;
        out["index"] = replica().index();
        out["position"] = replica().position();
        out["synced"] = store_.store().synced();
        out["time"] = replica().now().time_since_epoch().count();
        out["events_hash"] = hex_of(replica().events_hash());
        out["nodes"] = d.state().present();
        out["queued"] = d.queued();
        out["queue_capacity"] = d.queue_capacity();
        out["leases"] = d.state().leases().size();
        out["sessions"] = replica().clients().size();
        out["operator_seq"] = replica().operator_seq();
        out["events"] = {{"first", log_.first()}, {"next", log_.next()}};
        out["snapshots"] = store_.store().snapshots();
        out["snapshot_failed"] = store_.store().snapshot_error().has_value();
        out["began"] = began_.time_since_epoch().count();
        return out;
    }
    auto root() -> allot::Json override {
        return {
            {"index", replica().index()}, {"root", hex_of(store_.root())}, {"events", hex_of(replica().events_hash())}};
    }
    auto metrics() -> std::string override {
        auto out = ::metrics::Exposition{};
        const auto network = recorder_.metrics(replica().dispatcher());
        ::metrics::write_events(out, network);
        ::metrics::write_state(out, network);
        out.one("allot_counters_began_timestamp_seconds", "gauge", "Unix time at which all counters were zero.",
                ::metrics::seconds(static_cast<std::uint64_t>(began_.time_since_epoch().count())));
        out.one("allot_log_index", "counter", "Entries applied since the log began.", replica().index());
        out.one("allot_log_synced", "counter", "Entries that outlast a crash.", store_.store().synced());
        out.one("allot_log_time_seconds", "gauge", "Log time, Unix.",
                ::metrics::seconds(static_cast<std::uint64_t>(replica().now().time_since_epoch().count())));
        out.one("allot_sessions", "gauge", "Open sessions of clients.", replica().clients().size());
        out.one("allot_snapshot_failed", "gauge", "1 if the last snapshot could not be written.",
                store_.store().snapshot_error().has_value() ? 1 : 0);
        return out.text();
    }
    auto events() -> EventLog& override { return log_; }

private:
    /// Passes effects on. While the folder is opened, only events that were told before come again.
    struct Sink {
        EngineOf* engine;
        void event(allot::EffectId id, const allot::Event& event) {
            if (!engine->first_seen_) { engine->first_seen_ = number_of(id); }
            engine->log_.add(id, event);
            if (!engine->is_replaying_) { engine->heard_.push_back(event); }
        }
        void reply(const allot::Reply& reply) {
            if (!engine->is_replaying_) { engine->give(reply); }
        }
        void attest(const allot::Attestation&) {}  // a single node has no one to compare with
        void suspect(const allot::Divergence&) {}
    };

    static constexpr auto tick_idle = allot::Duration{1'000};

    static auto wall() -> allot::TimePoint { return allot::network_time(std::chrono::system_clock::now()); }
    static auto hex_of(const allot::Hash256& hash) -> std::string { return allot::Id<struct HashTag>{hash}.hex(); }

    auto replica() const -> const allot::Replica<Dispatcher>& { return store_.replica(); }

    auto opened(const Options& options, Dispatcher composed) -> Store {
        auto folder = allot::PosixFolder::open(options.folder);
        if (!folder) { throw std::runtime_error{options.folder + ": " + std::string{message(folder.error())}}; }
        auto parameters = allot::StoreParameters{};
        parameters.checkpoint_every = options.checkpoint_every;
        auto store = Store::open(*std::move(folder), std::move(composed), 0, sink_, parameters);
        if (!store) {
            const auto& f = store.error();
            throw std::runtime_error{options.folder + "/" + f.file + ": " + std::string{message(f.error)} +
                                     (f.io ? " (" + std::string{message(*f.io)} + ")" : std::string{})};
        }
        return *std::move(store);
    }

    /// The first entries of a new log: the parameters, which are the same for all who read it.
    void set_up() {
        auto parameters = allot::ReplicaParameters{};
        parameters.replicas = 1;
        parameters.attest_every = 0;
        parameters.state_every = 0;
        append(allot::entry::Parameters{1, parameters}, wall());
        auto commands = std::vector<Command>{};
        if (const auto problem = read_commands(options_.parameters, false, commands, true)) {
            throw std::runtime_error{"--parameters: " + problem->detail};
        }
        if (!commands.empty()) { append(allot::entry::Operator<Command>{2, std::move(commands)}, wall()); }
    }

    template <class Body>
    void append(Body&& body, allot::TimePoint now) {
        if (failed_) { return; }
        failed_ = store_.apply({0, replica().index() + 1, now, {std::forward<Body>(body)}});
        appended_ = true;
    }

    auto read_commands(std::string_view body, bool is_binary, std::vector<Command>& out, bool may_be_empty = false)
        -> std::optional<Problem> {
        if (is_binary) {
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
            out.push_back(*std::move(read));
        }
        if (out.empty() && !may_be_empty) { return Problem{400, "malformed", "send one command a line, at least one"}; }
        return std::nullopt;
    }

    void give(const allot::Reply& reply) {
        // Only replies to registrations have seq 0: no request has it.
        const auto is_registration = reply.verdict == allot::Verdict::registered || reply.seq == 0;
        if (is_registration && !reply.session.is_null()) { return give_to(opening_, reply.session, reply); }
        give_to(waiting_, std::pair{reply.session, reply.seq}, reply);
    }
    /// Gives the answer to the one who asked first.
    template <class Map, class Key>
    void give_to(Map& map, const Key& key, const allot::Reply& reply) {
        const auto found = map.find(key);
        if (found == map.end()) { return; }
        const auto done = std::move(found->second.front());
        found->second.pop_front();
        if (found->second.empty()) { map.erase(found); }
        done(answer(reply));
    }
    void refuse_all() {
        const auto problem = Problem{503, "log_failed", "ask again with the same session and seq: " + fault(), 5};
        const auto give_up = [&](auto& map) {
            for (auto& [key, all] : map) {
                for (const auto& done : all) { done({problem, {}}); }
            }
            map.clear();
        };
        give_up(waiting_);
        give_up(opening_);
    }

    static auto answer(const allot::Reply& reply) -> Answer {
        using allot::Verdict;
        const auto refuse = [&](unsigned status, unsigned retry_after_s = 0) {
            return Answer{Problem{status, std::string{allot::enumerator_name(reply.verdict)},
                                  std::string{message(reply.verdict)}, retry_after_s},
                          {}};
        };
        switch (reply.verdict) {
            case Verdict::stale:
            case Verdict::gap: return refuse(409);
            case Verdict::session_unknown: return refuse(410);
            case Verdict::operators_only: return refuse(403);
            case Verdict::too_many_commands: return refuse(413);
            case Verdict::session_taken: return refuse(409);
            case Verdict::sessions_full: return refuse(503, 60);
            case Verdict::id_invalid:
            case Verdict::parameter_invalid: return refuse(422);
            case Verdict::applied:
            case Verdict::duplicate:
            case Verdict::registered: break;
        }
        auto out = allot::Json::object();
        out["index"] = reply.index;
        out["answer"] = allot::enumerator_name(reply.verdict);
        if (reply.verdict == Verdict::registered) {
            out["session"] = reply.session.hex();
            out["seq"] = reply.seq + 1;
            return {{}, std::move(out)};
        }
        auto& results = out["results"] = allot::Json::array();
        for (const auto& error : reply.answers) {
            auto result = allot::Json::object();
            result["accepted"] = !error;
            if (error) {
                result["error"] = allot::enumerator_name(*error);
                result["detail"] = message(*error);
            }
            results.push_back(std::move(result));
        }
        return {{}, std::move(out)};
    }

    template <class T>
    static auto explained(const allot::Result<T>& result) -> Answer {
        if (result) { return {{}, allot::json_of(*result)}; }
        return {Problem{404, std::string{allot::enumerator_name(result.error())}, std::string{message(result.error())}},
                {}};
    }

    /// Calls `f(handle)` for records from the cursor on, and returns the next cursor.
    template <class Table, class F>
    static auto each_from(const Table& table, std::uint64_t cursor, std::size_t limit, F&& f)
        -> std::optional<std::uint64_t> {
        auto looked = std::size_t{0};
        for (; cursor < table.reach(); ++cursor) {
            if (limit == 0 || ++looked > looked_max) { return cursor; }
            const auto h = typename Table::handle_type{static_cast<std::uint32_t>(cursor)};
            if (!table.contains(h)) { continue; }
            f(h);
            --limit;
        }
        return std::nullopt;
    }

    static auto json_of_node(const allot::NodeView& v) -> allot::Json {
        auto out = allot::Json::object();
        out["id"] = allot::json_of(v.id);
        out["operator_id"] = allot::json_of(v.operator_id);
        out["state"] = allot::json_of(v.state);
        out["excluded"] = v.excluded;
        out["gpu"] = allot::json_of(std::string{v.gpu});
        out["vram"] = v.vram.count;
        out["platform"] = allot::json_of(std::string{v.platform});
        out["stake"] = allot::json_of(v.stake);
        out["score_permille"] = v.score_permille;
        auto& models = out["models"] = allot::Json::array();
        for (const auto& model : v.models) {
            models.push_back(
                {{"name", allot::json_of(std::string{model.name})}, {"holding", allot::json_of(model.holding)}});
        }
        out["lease"] = allot::json_of(v.lease);
        return out;
    }
    static auto json_of_task(const allot::TaskView& v) -> allot::Json {
        auto out = allot::Json::object();
        out["id"] = allot::json_of(v.id);
        out["state"] = allot::json_of(v.state);
        out["due_at"] = allot::json_of(v.due_at);
        if (v.end) {
            out["end"] = {{"ending", allot::json_of(v.end->ending)},
                          {"cause", allot::json_of(v.end->cause)},
                          {"node", allot::json_of(v.end->node)}};
            return out;
        }
        out["owner"] = allot::json_of(v.owner);
        out["fee"] = allot::json_of(v.fee);
        out["duration_estimate"] = allot::json_of(v.duration_estimate);
        out["submitted_at"] = allot::json_of(v.submitted_at);
        out["attempts"] = v.attempts;
        out["leases"] = allot::json_of(v.leases);
        return out;
    }

    static constexpr auto looked_max = std::size_t{100'000};

    Options options_;
    bool is_replaying_ = true;  // the folder is being opened
    std::optional<std::uint64_t> first_seen_{};
    EventLog log_;
    std::vector<allot::Event> heard_{};
    allot::MetricsRecorder recorder_{};
    allot::TimePoint began_{};
    std::map<std::pair<allot::SessionId, std::uint64_t>, std::deque<Done>> waiting_{};
    std::map<allot::SessionId, std::deque<Done>> opening_{};
    std::vector<allot::Request<Command>> batch_{};
    std::deque<typename allot::Entry<Command>::Body> bodies_{};
    bool appended_ = false;
    std::optional<allot::IoError> failed_{};
    Beacon beacon_;
    Sink sink_{this};
    Store store_;
};

/// Opens the engine of a preset.
template <class Dispatcher>
auto open_engine(const Engine::Options& options, Dispatcher composed) -> std::unique_ptr<Engine> {
    return std::make_unique<EngineOf<Dispatcher>>(options, std::move(composed));
}

}  // namespace service
