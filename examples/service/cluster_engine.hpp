#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <allot/journal/snapshot.hpp>

#include "checkpoint.hpp"
#include "etcd/cluster.hpp"
#include "files.hpp"
#include "objects.hpp"
#include "replica_engine.hpp"

namespace service {

/// One replica of several, whose log is etcd's.
template <class Dispatcher>
class ClusterEngine final : public ReplicaEngine<Dispatcher> {
    using Base = ReplicaEngine<Dispatcher>;
    using typename Base::Body;
    using typename Base::Clock;
    using typename Base::Command;
    using typename Base::Entry;
    using typename Base::Request;
    using Replica = allot::Replica<Dispatcher>;

public:
    ClusterEngine(const Engine::Options& options, Dispatcher composed)
        : Base{options, composed}, own_{*options.cluster}, composed_{composed}, replica_{std::move(composed), own_.id},
          cluster_{{own_.addresses, own_.name, own_.id, own_.tls}} {
        if (!own_.checkpoints.empty()) { objects_ = open_objects(own_.checkpoints); }
        join();
    }
    ~ClusterEngine() override { cluster_.stop(); }
    ClusterEngine(const ClusterEngine&) = delete;
    auto operator=(const ClusterEngine&) -> ClusterEngine& = delete;

    void on_work(std::function<void()> wake) override { cluster_.on_work(std::move(wake)); }

    auto has_work() const -> bool override {
        return is_polled_ || cluster_.has_entries() || (has_proposal() && cluster_.can_propose()) ||
               (writing_ && !writing_->job.valid() && !writing_->writer.done());
    }

    auto turn(allot::TimePoint now) -> bool override {
        is_polled_ = false;
        if (is_done(joining_)) { take_over(joining_.get()); }
        apply_entries();
        if (!joining_.valid() && cluster_.is_compacted()) { join(); }
        while (cluster_.can_propose() && has_proposal()) { propose(now); }
        write_checkpoint();
        this->record();
        if (fault().empty()) { return true; }
        this->stop();
        return false;
    }

    void tick(allot::TimePoint now) override {
        is_polled_ = true;
        cluster_.check_silence();
        this->give_up(Clock::now() - answer_time_max,
                      {504, "unknown_yet", "ask again with the same session and seq, here or at another replica", 1});
        cluster_.stand(takes_part() && fault().empty());
        if (!takes_part()) { return; }
        if (!std::exchange(has_begun_, true)) { begin(); }
        if (!cluster_.leads() || is_ticking_) { return; }
        if (auto body = this->due_tick(now)) {
            this->bodies_.push_front({*std::move(body)});
            is_ticking_ = true;
        }
    }

    /// Also before the first tick: log time has not begun, so waits that began now would end at once.
    auto is_behind() const -> bool override { return !takes_part() || !replica_.last_tick(); }

    auto fault() const -> std::string override {
        if (!refusal_.empty()) { return refusal_; }
        if (cluster_.is_id_taken()) {
            return own_.name + ": another process runs as replica " + std::to_string(own_.id) +
                   "; stop it, or start this one with an --id of its own";
        }
        const auto& fault = replica_.fault();
        if (!fault) { return {}; }
        auto text = std::string{message(fault->error)} + " (index " + std::to_string(fault->index) + ", position " +
                    std::to_string(fault->position) + ')';
        return fault->divergence ? text + "; " + text_of(*fault->divergence) + evidence_ : text;
    }
    auto exit_status() const -> int override { return replica_.fault() && replica_.fault()->divergence ? 3 : 1; }

private:
    /// A checkpoint on its way: written in slices, its chunks stored one by one, then named.
    struct Writing {
        Checkpoint checkpoint;
        allot::SnapshotWriter<Dispatcher> writer;
        ChunkSink sink{};
        std::future<std::string> job{};  // stores a chunk and gives its hash, or names the checkpoint
        bool is_naming = false;
    };
    /// The replica to go on with. None: from the beginning of the log.
    struct Joined {
        std::string refusal{};
        std::optional<Replica> replica{};
    };
    struct Attested {
        allot::Attestation last{};
        std::optional<allot::Attestation> last_state{};
    };

    static constexpr auto answer_time_max = std::chrono::seconds{10};
    static constexpr auto turn_time_max = std::chrono::milliseconds{20};
    static constexpr auto slice_bytes = std::size_t{1} << 18U;
    static constexpr auto checkpoint_bytes = std::uint64_t{256} << 20U;  // of entries, whatever their number
    static constexpr auto checkpoint_retry = std::chrono::seconds{10};
    static constexpr auto gather_time_max = std::chrono::milliseconds{2};
    static constexpr auto join_retry = std::chrono::milliseconds{200};
    static constexpr auto recent_max = std::size_t{1'024};
    static constexpr auto recent_bytes_max = std::size_t{8} << 20U;

    auto replica() const -> const Replica& override { return replica_; }
    /// Not until it holds its id, so that a second process of one id does no harm.
    auto takes_part() const -> bool { return is_caught_up_ && cluster_.holds_id(); }
    auto state_root() -> allot::Hash256 override { return replica_.root(); }
    auto is_alone() const -> bool override { return false; }

    template <class T>
    static auto is_done(const std::future<T>& job) -> bool {
        return job.valid() && job.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
    }

    // ---- joining ----------------------------------------------------------------------------------------------------

    /// Finds the place from which the log is read, next to the work.
    void join() {
        is_caught_up_ = false;
        writing_.reset();
        joining_ = std::async(std::launch::async, [this, is_again = has_joined_] {
            if (is_again) { std::this_thread::sleep_for(join_retry); }
            return joined();
        });
        has_joined_ = true;
    }

    auto joined() -> Joined {
        const auto first = Entry{own_.id, 0, this->wall(), allot::entry::Parameters{1, this->parameters_}};
        const auto version = allot::json_text({{"entry_version", allot::entry_version},
                                               {"packed", "zstd"},
                                               {"preset", this->options_.preset},
                                               {"stake_cap", allot::json_of(this->options_.stake_cap)},
                                               {"replicas", own_.replicas}});
        const auto found = cluster_.join(version, allot::encode_entry(first));
        if (found && *found != version) {
            return {own_.name + ": the cluster is " + *found + ", and this replica " + version +
                        "; start all with the same release, preset, stake cap and number of replicas",
                    {}};
        }
        while (const auto value = cluster_.read_checkpoints()) {
            const auto kept = read(*value).kept;
            if (!objects_ && kept.size() > 1) {
                return {own_.name + ": the beginning of the log was dropped; name the folder of --checkpoints", {}};
            }
            for (std::size_t i = 0; objects_ && i < kept.size(); ++i) {
                if (auto replica = loaded(kept[i])) { return {{}, std::move(replica)}; }
            }
            if (kept.size() < 2) { return {}; }  // nothing of the log was dropped yet
            std::cerr << "allotd: no checkpoint can be loaded; trying again" << std::endl;
            std::this_thread::sleep_for(std::chrono::seconds{1});
        }
        return {};
    }

    static auto read(const ClusterValue& value) -> Checkpoints {
        if (value.revision == 0) { return {}; }
        auto checkpoints = allot::read_json<Checkpoints>(value.text);
        return checkpoints ? *std::move(checkpoints) : Checkpoints{};
    }

    /// The replica of a checkpoint; none if it is damaged, which is told.
    auto loaded(const Checkpoint& checkpoint) -> std::optional<Replica> {
        auto source = ChunkSource{*objects_, checkpoint};
        auto snapshot =
            allot::load_snapshot(source, composed_, {allot::SnapshotParameters::taken_over, std::uint64_t{1} << 26U});
        auto why = std::string{};
        if (!snapshot) {
            why = message(snapshot.error().error);
        } else if (auto restored = Replica::restore(*std::move(snapshot), own_.id)) {
            if (restored->position() == checkpoint.position) { return *std::move(restored); }
            why = "it is of another position";
        } else {
            why = "it is none of a replica";
        }
        std::cerr << "allotd: checkpoint " << checkpoint.name << " is not used: " << why << std::endl;
        return std::nullopt;
    }

    void take_over(Joined found) {
        refusal_ = std::move(found.refusal);
        if (!refusal_.empty()) { return; }
        replica_ = found.replica ? *std::move(found.replica) : Replica{composed_, own_.id};
        newest_index_ = replica_.index();
        bytes_since_ = 0;
        // Entries on their way may be among those passed over.
        is_ticking_ = false;
        requests_nonce_ = 0;
        this->doubtful_.insert(this->doubtful_.end(), std::make_move_iterator(this->settling_.begin()),
                               std::make_move_iterator(this->settling_.end()));
        this->settling_.clear();
        if (replica_.index() > 0) { this->log_.restart(number_of({replica_.index() + 1, 0})); }
        cluster_.read_from(replica_.position());
    }

    /// The first entries of this life, once all earlier ones are known.
    void begin() {
        if (auto head = this->due_head()) { this->bodies_.push_back({*std::move(head)}); }
        if (replica_.operator_seq() > 1 || this->first_commands_.empty()) { return; }
        this->bodies_.push_back(
            {allot::entry::Operator<Command>{2, this->first_commands_}});  // applied once, as any seq
    }

    // ---- entries in -------------------------------------------------------------------------------------------------

    void apply_entries() {
        const auto end = Clock::now() + turn_time_max;
        while (!joining_.valid() && fault().empty()) {
            auto entries = cluster_.take(64);
            for (auto& entry : entries) { apply(std::move(entry)); }
            if (!is_caught_up_) { is_caught_up_ = cluster_.is_caught_up(replica_.position()); }
            if (entries.empty() || Clock::now() > end) { return; }
        }
    }

    void apply(allot::LoggedEntry logged) {
        if (replica_.fault()) { return; }
        const auto entry = allot::decode_entry<Command>(logged.bytes);
        if (entry) {
            const auto effects = replica_.apply_decoded(logged.position, *entry, [&](const auto& session) {
                if (writing_) { writing_->writer.follow(session); }
            });
            if (effects.is_redelivery) { return; }
            pass_on(*entry, effects);
        } else {
            auto unknown = Unheard{};
            (void)replica_.apply(logged.position, logged.bytes, unknown);  // it stops
        }
        bytes_since_ += logged.bytes.size();
        recent_bytes_ += logged.bytes.size();
        recent_.push_back(std::move(logged));
        while (recent_.size() > recent_max || recent_bytes_ > recent_bytes_max) {
            recent_bytes_ -= recent_.front().bytes.size();
            recent_.pop_front();
        }
        if (replica_.fault() && replica_.fault()->divergence) { keep_evidence(); }
    }
    /// For an entry without effects.
    struct Unheard {
        static void event(allot::EffectId, const allot::Event&) {}
        static void reply(const allot::Reply&) {}
        static void attest(const allot::Attestation&) {}
        static void suspect(const allot::Divergence&) {}
    };

    void pass_on(const Entry& entry, const allot::EntryEffects& effects) {
        for (std::size_t i = 0; i < effects.events.size(); ++i) {
            this->hear({effects.index, static_cast<std::uint32_t>(i)}, effects.events[i]);
        }
        const auto is_own = entry.proposer == own_.id;
        const auto is_requests = std::holds_alternative<allot::entry::Requests<Command>>(entry.body);
        for (const auto& reply : effects.replies) {
            if (is_requests) {
                this->give(reply);
            } else if (is_own) {
                this->give(entry.nonce, reply);
            }
        }
        if (const auto* vote = std::get_if<allot::entry::Attest>(&entry.body)) { note(entry, vote->attestation); }
        for (const auto& suspect : effects.suspects) {
            suspects_[suspect.replica] = suspect;
            std::cerr << "allotd: suspect: " << text_of(suspect) << std::endl;
        }
        if (effects.attestation && !is_behind()) {
            this->bodies_.push_back({allot::entry::Attest{*effects.attestation}});
        }
        if (!is_own) { return; }
        if (std::holds_alternative<allot::entry::Tick>(entry.body) ||
            std::holds_alternative<allot::entry::ChainHead>(entry.body)) {
            is_ticking_ = false;
        }
        if (entry.nonce == requests_nonce_) {
            requests_nonce_ = 0;
            // Its clients ask again in a moment, and should share an entry with those that wait.
            gathered_ += this->batch_.size();
            gather_until_ = Clock::now() + gather_time_max;
            if (gathered_ > 1) { cluster_.wake_at(gather_until_); }
            for (auto& asked : std::exchange(this->settling_, {})) { this->admit(std::move(asked), true); }
        }
    }

    void note(const Entry& entry, const allot::Attestation& attestation) {
        if (attestation.replica != entry.proposer) { return; }
        auto& known = attested_[attestation.replica];
        known.last = attestation;
        if (attestation.state) { known.last_state = attestation; }
        suspects_.erase(attestation.replica);  // named again at once, if it still differs
    }

    static auto text_of(const allot::Divergence& d) -> std::string {
        return "at index " + std::to_string(d.index) + " replica " + std::to_string(d.replica) + " has other " +
               std::string{allot::enumerator_name(d.kind)} + ": here " + hex_of(d.mine) + ", there " + hex_of(d.theirs);
    }

    /// Keeps the state and the last entries aside, to find out why they differ.
    void keep_evidence() {
        const auto path = this->options_.folder + "/diverged-" + std::to_string(replica_.index());
        const auto bytes = allot::snapshot(replica_.dispatcher(), replica_.position(), replica_.embedded());
        auto entries = std::string{};
        for (const auto& e : recent_) {
            entries += std::to_string(e.position) + ' ' +
                       allot::detail::hex_of_bytes({reinterpret_cast<const char*>(e.bytes.data()), e.bytes.size()}) +
                       '\n';
        }
        auto error = write_whole(path + ".snapshot", bytes);
        if (!error) { error = write_whole(path + ".entries", entries); }
        evidence_ = error ? "; the evidence " + path + " could not be kept: " + std::string{message(*error)}
                          : "; see " + path + ".snapshot and .entries";
    }

    // ---- entries out ------------------------------------------------------------------------------------------------

    auto has_proposal() const -> bool { return !this->bodies_.empty() || has_requests(); }
    /// One entry of requests is on its way at a time. Those that come in the meantime share the next one, which waits a
    /// moment for the clients of the last one: an entry costs more than its commands.
    auto has_requests() const -> bool {
        return requests_nonce_ == 0 && (!this->batch_.empty() || !this->doubtful_.empty()) &&
               (this->batch_.size() >= gathered_ || Clock::now() >= gather_until_);
    }

    /// Gives one entry to a free lane: by turns all requests so far, and one of the others.
    void propose(allot::TimePoint now) {
        if (has_requests() && (this->bodies_.empty() || std::exchange(is_requests_turn_, false))) {
            return propose_requests(now);
        }
        is_requests_turn_ = true;
        auto proposal = std::move(this->bodies_.front());
        this->bodies_.pop_front();
        const auto nonce = this->begun(proposal);
        cluster_.propose(nonce, allot::encode_entry(Entry{own_.id, nonce, now, std::move(proposal.body)}));
    }
    /// Also an entry without requests tells, when it comes back, that all before it is known.
    void propose_requests(allot::TimePoint now) {
        const auto nonce = this->next_nonce();
        auto builder = allot::EntryBuilder{own_.id};
        gathered_ = this->take_requests([&](const auto& encoding) { builder.add(encoding); }).size();
        this->settling_.swap(this->doubtful_);
        requests_nonce_ = nonce;
        cluster_.propose(nonce, builder.finish(nonce, now));
    }

    // ---- checkpoints ------------------------------------------------------------------------------------------------

    void write_checkpoint() {
        if (!objects_ || is_behind()) { return; }
        auto seen = cluster_.checkpoints();
        if (seen.revision != named_.revision) {
            named_ = std::move(seen);
            const auto kept = read(named_).kept;
            if (!kept.empty()) { newest_index_ = std::max(newest_index_, kept.front().index); }
            bytes_since_ = 0;
        }
        if (writing_) {
            go_on_writing();
        } else if (is_checkpoint_due()) {
            auto name = fmt::format("{:016x}.{}", replica_.position(), own_.id);
            writing_.emplace(Writing{{std::move(name), replica_.position(), replica_.index(), {}},
                                     {replica_.dispatcher(), replica_.position(), replica_.embedded()}});
        }
    }

    /// The lowest replica that runs writes it; each higher one waits a quarter longer.
    auto is_checkpoint_due() const -> bool {
        if (this->options_.checkpoint_every == 0 || Clock::now() < checkpoint_not_before_) { return false; }
        const auto late = [&](std::uint64_t every) { return every + every / 4 * own_.id; };
        const auto entries = replica_.index() - std::min(newest_index_, replica_.index());
        return entries >= late(this->options_.checkpoint_every) || bytes_since_ >= late(checkpoint_bytes);
    }

    void go_on_writing() {
        auto& w = *writing_;
        if (w.job.valid()) {
            if (!is_done(w.job)) { return; }
            auto hash = w.job.get();
            has_checkpoint_failed_ = hash.empty();
            if (hash.empty()) { checkpoint_not_before_ = Clock::now() + checkpoint_retry; }
            if (hash.empty() || w.is_naming) { return writing_.reset(); }
            w.checkpoint.chunks.push_back(std::move(hash));
        }
        if (!w.writer.done()) { (void)w.writer.write(replica_.dispatcher(), w.sink, slice_bytes); }
        if (w.sink.is_full() || (w.writer.done() && !w.sink.empty())) {
            w.job =
                std::async(std::launch::async, [objects = objects_.get(), bytes = w.sink.take(),
                                                name = detail::object_name(w.checkpoint, w.checkpoint.chunks.size())] {
                    return objects->put(name, bytes) ? detail::sha256_hex(bytes) : std::string{};
                });
        } else if (w.writer.done() && replica_.tally().agreed(own_.replicas) >= w.checkpoint.index) {
            // Only now most replicas are known to have the same state.
            w.is_naming = true;
            w.job = std::async(std::launch::async,
                               [this, checkpoint = w.checkpoint, known = named_] { return name(checkpoint, known); });
        }
    }

    /// Makes a stored checkpoint the newest of two, and drops the objects that neither these nor the one before needs:
    /// a slow replica may still read that one.
    auto name(const Checkpoint& checkpoint, const ClusterValue& known) -> std::string {
        auto kept = read(known).kept;
        if (!kept.empty() && kept.front().position >= checkpoint.position) { return "late"; }
        kept.insert(kept.begin(), checkpoint);
        const auto spared = Checkpoints{kept};
        kept.resize(std::min(kept.size(), std::size_t{2}));
        const auto all = Checkpoints{kept};
        const auto through = kept.size() > 1 ? kept.back().position : 0;
        if (!cluster_.name_checkpoints(allot::write_json(all), known, through)) { return {}; }
        remove_others(*objects_, spared);
        return "named";
    }

    // ---- shown ------------------------------------------------------------------------------------------------------

    void add_status(allot::Json& out) const override {
        out["role"] = is_behind() ? "catching_up" : cluster_.leads() ? "leader" : "follower";
        out["id"] = own_.id;
        const auto leader = cluster_.leader();
        out["leader"] = leader ? allot::Json(*leader) : allot::Json();
        out["etcd"] = cluster_.status();
        auto& replicas = out["replicas"] = allot::Json::array();
        for (const auto& [id, known] : attested_) {
            auto one = allot::Json::object();
            one["id"] = id;
            one["index"] = known.last.index;
            one["events_hash"] = hex_of(known.last.events);
            if (known.last_state) {
                one["root_index"] = known.last_state->index;
                one["root"] = hex_of(*known.last_state->state);
            }
            one["suspect"] = suspects_.contains(id);
            replicas.push_back(std::move(one));
        }
        auto& checkpoints = out["checkpoints"] = allot::Json::array();
        for (const auto& c : read(named_).kept) { checkpoints.push_back(c.index); }
        out["checkpoint_failed"] = has_checkpoint_failed_;
    }

    void add_metrics(::metrics::Exposition& out) const override {
        out.one("allot_log_position", "counter", "Position of the last entry applied.", replica_.position());
        out.one("allot_replica_leads", "gauge", "1 if this replica ticks.", cluster_.leads() ? 1 : 0);
        out.one("allot_replica_behind", "gauge", "1 while this replica has not read the log to its end.",
                is_behind() ? 1 : 0);
        out.one("allot_etcd_reached", "gauge", "1 if etcd answered within the last 3 s.",
                cluster_.is_reached() ? 1 : 0);
        out.one("allot_checkpoint_index", "gauge", "Entries in the newest checkpoint.", newest_index_);
        out.one("allot_snapshot_failed", "gauge", "1 if the last snapshot could not be written.",
                has_checkpoint_failed_ ? 1 : 0);
        out.family("allot_attested_index", "gauge", "Index of the last hashes that a replica attested.");
        for (const auto& [id, known] : attested_) {
            out.sample(known.last.index, ::metrics::label("replica", std::to_string(id)));
        }
        out.family("allot_suspect", "gauge", "1 if the replica's hashes differ from most.");
        for (const auto& [id, known] : attested_) {
            out.sample(suspects_.contains(id) ? 1 : 0, ::metrics::label("replica", std::to_string(id)));
        }
    }

    ClusterOptions own_;
    Dispatcher composed_;
    Replica replica_;
    std::unique_ptr<Objects> objects_{};
    Cluster cluster_;

    bool has_joined_ = false;
    bool is_polled_ = false;
    bool is_caught_up_ = false;
    bool has_begun_ = false;
    bool is_ticking_ = false;  // a tick is on its way
    bool is_requests_turn_ = true;
    std::uint64_t requests_nonce_ = 0;  // of the entry of requests that is on its way; 0: none
    std::size_t gathered_ = 0;          // requests in the last entry, then those to wait for
    Clock::time_point gather_until_{};
    std::string refusal_{};
    std::string evidence_{};
    std::deque<allot::LoggedEntry> recent_{};
    std::size_t recent_bytes_ = 0;
    std::map<allot::ReplicaId, Attested> attested_{};
    std::map<allot::ReplicaId, allot::Divergence> suspects_{};

    ClusterValue named_{};
    std::uint64_t newest_index_ = 0;  // of the newest checkpoint
    std::uint64_t bytes_since_ = 0;   // of entries since it was named
    bool has_checkpoint_failed_ = false;
    Clock::time_point checkpoint_not_before_{};
    std::optional<Writing> writing_{};
    std::future<Joined> joining_{};
};

}  // namespace service
