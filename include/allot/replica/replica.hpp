#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <allot/core/command.hpp>
#include <allot/core/events.hpp>
#include <allot/core/moment.hpp>
#include <allot/core/sha256.hpp>
#include <allot/core/time.hpp>
#include <allot/dispatcher/session.hpp>
#include <allot/journal/encode.hpp>
#include <allot/journal/event_hash.hpp>
#include <allot/journal/sections.hpp>
#include <allot/journal/snapshot.hpp>
#include <allot/journal/state_root.hpp>
#include <allot/replica/attestation.hpp>
#include <allot/replica/client_table.hpp>
#include <allot/replica/effects.hpp>
#include <allot/replica/entry.hpp>
#include <allot/replica/parameters.hpp>
#include <allot/replica/replica_state.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

/// Applies the entries of a replicated log to a dispatcher. Equal logs give equal states and effects on all replicas.
///
///     auto replica = allot::Replica{std::move(dispatcher), 0};
///     for (auto entry = log.next(); entry; entry = log.next()) {
///         if (const auto fault = replica.apply(entry->position, entry->bytes, sink)) { stop(*fault); }
///     }
///
/// It has no transport, clock or thread. An entry never fails: a request that cannot be applied has a verdict. Only an
/// entry of unknown form, or a majority with other hashes, stops the replica for good.
///
/// If an exception is thrown, such as `std::bad_alloc`, the replica is as before the entry. If memory runs out while
/// the changes are taken back, the program ends. A sink that throws loses effects of an entry that stays applied.
///
/// @complexity of an entry: that of its commands, and O(log n) for each request with n sessions.
template <class Dispatcher>
class Replica {
public:
    using Command = typename Dispatcher::Command;
    using Entry = allot::Entry<Command>;
    using Request = allot::Request<Command>;

    /// A replica before the first entry, with default parameters. `id` only names it in its attestations.
    /// @pre all replicas start from equal dispatchers.
    Replica(Dispatcher composed, ReplicaId id) : dispatcher_{std::move(composed)}, id_{id} {
        own_.now = dispatcher_.now();
    }

    /// The replica of a dispatcher and the `own_bytes` that belong to it, whose state equals that of the one that wrote
    /// them. The bytes may come from any party; whether they are the right ones, `root` tells.
    ///
    /// Error: a `DecodeFault` if the bytes have another form, or hold values that no replica has.
    /// @complexity O(n log n) for n sessions.
    [[nodiscard]] static auto restore(Dispatcher dispatcher, ReplicaId id, std::span<const std::uint8_t> own_bytes)
        -> Result<Replica, DecodeFault> {
        auto in = ByteReader{own_bytes};
        auto version = std::uint32_t{};
        auto replica = Replica{std::move(dispatcher), id};
        Decoder{in}.get(version);
        if (version != detail::replica_state_version) { in.fail(DecodeError::version_unknown); }
        Decoder{in}.get(replica.own_);
        if (!replica.own_.is_sound() || replica.own_.now < replica.dispatcher_.now()) {
            in.fail(DecodeError::out_of_range);
        }
        replica.clients_ = ClientTable::get(in);
        replica.tally_ = AttestationTally::get(in);
        in.end();
        if (in.fault()) { return FailureOf<DecodeFault>{*in.fault()}; }
        return replica;
    }
    /// The replica of a checkpoint, which is a snapshot with `embedded()` as its section. Its tree is taken over.
    /// Error: `kind_unknown` for a section of another name, and as above.
    [[nodiscard]] static auto restore(Loaded<Dispatcher> checkpoint, ReplicaId id) -> Result<Replica, DecodeFault> {
        if (checkpoint.embedded.name != replica_section_name) {
            return FailureOf<DecodeFault>{DecodeFault{DecodeError::kind_unknown, 0}};
        }
        auto replica = restore(std::move(checkpoint.dispatcher), id, checkpoint.embedded.bytes);
        if (replica) { replica->tree_.emplace(std::move(checkpoint.tree)); }
        return replica;
    }

    /// Applies the entry at a position and passes its effects to the sink. Positions grow, from 1 on. A position that
    /// is not above the last is a redelivery and passed over.
    ///
    /// Returns the fault that stopped the replica. It then returns the same fault for every entry, and changes nothing.
    template <replica_sink Sink>
    auto apply(std::uint64_t position, std::span<const std::uint8_t> bytes, Sink& sink) -> std::optional<ReplicaFault> {
        return apply(position, bytes, sink, [](const Session<Dispatcher>&) {});
    }
    /// The same, calling `follow(session)` before the session of the entry is committed, for a `SnapshotWriter`.
    template <replica_sink Sink, class Follow>
    auto apply(std::uint64_t position, std::span<const std::uint8_t> bytes, Sink& sink, Follow&& follow)
        -> std::optional<ReplicaFault> {
        if (fault_ || position <= own_.position) { return fault_; }
        const auto entry = decode_entry<Command>(bytes);
        if (!entry) { return stop({ReplicaError::entry_unknown, position, own_.index, entry.error(), {}}); }
        const auto effects = apply_decoded(position, *entry, follow);
        deliver(effects, sink);
        return effects.fault;
    }

    /// Applies a decoded entry and returns its effects; otherwise as `apply`.
    template <class Follow>
    auto apply_decoded(std::uint64_t position, const Entry& entry, Follow&& follow) -> EntryEffects {
        auto effects = EntryEffects{};
        effects.fault = fault_;
        effects.is_redelivery = position <= own_.position;
        if (fault_ || effects.is_redelivery) { return effects; }
        auto step = Step{*this};
        auto session = dispatcher_.session();
        own_.position = position;
        effects.index = ++own_.index;
        move_time(entry, effects.events);
        std::visit([&](const auto& body) { run(body, entry, effects); }, entry.body);
        effects.time = own_.now;
        auto hash = EventHash{own_.events};
        hash.add(effects.events);
        own_.events = hash.value();
        note_touched(session);
        follow(static_cast<const Session<Dispatcher>&>(session));
        attest(entry, effects);
        session.commit();
        step.keep();
        if (effects.fault) { stop(*effects.fault); }
        return effects;
    }
    /// The same without a follower.
    auto apply_decoded(std::uint64_t position, const Entry& entry) -> EntryEffects {
        return apply_decoded(position, entry, [](const Session<Dispatcher>&) {});
    }

    /// The verdict that the request would get now: `applied` if it may be proposed. A front answers all others without
    /// an entry; for `duplicate`, `last_of` has the answers.
    /// @complexity O(log n + commands).
    [[nodiscard]] auto check(const Request& request) const -> Verdict {
        const auto verdict = clients_.admit(request.session, request.seq);
        if (verdict != Verdict::applied) { return verdict; }
        if (!own_.last_tick) { return Verdict::not_begun; }
        if (request.commands.size() > own_.parameters.commands_max) { return Verdict::too_many_commands; }
        const auto reserved = std::any_of(request.commands.begin(), request.commands.end(),
                                          [](const Command& command) { return is_operators(command); });
        return reserved ? Verdict::operators_only : Verdict::applied;
    }
    /// The last request of a session that is open, or null; valid until the next entry. @complexity O(log n).
    [[nodiscard]] auto last_of(const SessionId& session) const -> const LastRequest* {
        const auto* known = clients_.find(session);
        return known == nullptr ? nullptr : &known->last;
    }

    /// The dispatcher, read-only.
    [[nodiscard]] auto dispatcher() const noexcept -> const Dispatcher& { return dispatcher_; }
    /// The sessions of clients.
    [[nodiscard]] auto clients() const noexcept -> const ClientTable& { return clients_; }
    /// The votes on own attestations.
    [[nodiscard]] auto tally() const noexcept -> const AttestationTally& { return tally_; }
    /// The parameters in force.
    [[nodiscard]] auto parameters() const noexcept -> const ReplicaParameters& { return own_.parameters; }
    /// Name in attestations.
    [[nodiscard]] auto id() const noexcept -> ReplicaId { return id_; }
    /// Position of the last entry; 0 before the first.
    [[nodiscard]] auto position() const noexcept -> std::uint64_t { return own_.position; }
    /// Number of entries applied.
    [[nodiscard]] auto index() const noexcept -> std::uint64_t { return own_.index; }
    /// Log time: never earlier than the dispatcher's.
    [[nodiscard]] auto now() const noexcept -> TimePoint { return own_.now; }
    /// Time of the latest tick; none before the first.
    [[nodiscard]] auto last_tick() const noexcept -> std::optional<TimePoint> { return own_.last_tick; }
    /// The rolling hash of all events.
    [[nodiscard]] auto events_hash() const noexcept -> const Hash256& { return own_.events; }
    /// `seq` of the operator's last entry; the next has one more.
    [[nodiscard]] auto operator_seq() const noexcept -> std::uint64_t { return own_.operators.seq; }
    /// The hash chain of a leader, or null; valid until the next entry. @complexity linear in the leaders.
    [[nodiscard]] auto chain(ReplicaId leader) const -> const LeaderChain* { return own_.chain(leader); }
    /// Round of the last public beacon that was drawn with.
    [[nodiscard]] auto round() const noexcept -> std::uint64_t { return own_.round; }
    /// The fault that stopped the replica.
    [[nodiscard]] auto fault() const noexcept -> const std::optional<ReplicaFault>& { return fault_; }

    /// The state root: of the dispatcher, and of all that is replicated next to it. A checkpoint's own root is another,
    /// because it hashes `own_bytes` as they are.
    /// @complexity linear in the records and the sessions the first time; then O(log n) hashes for each that was
    /// touched since the last call, and linear in the votes that are counted.
    [[nodiscard]] auto root() -> Hash256 {
        auto bytes = std::vector<std::uint8_t>{};
        auto out = Encoder{bytes};
        out.put(std::string{replica_section_name});
        out.put(detail::replica_state_version);
        out.put(tree().root());
        out.put(own_);
        out.put(clients_.root());
        tally_.put(out);
        return Sha256{}.bytes(bytes).finish();
    }

    /// The tree of the dispatcher's state, brought up to date. @complexity as `root`, without the sessions.
    [[nodiscard]] auto tree() -> StateTree& {
        if (!tree_) {
            tree_.emplace(dispatcher_);
            touched_ = {};
        }
        tree_->follow(dispatcher_, touched_);
        for (auto& section : touched_) { section.clear(); }
        touched_count_ = 0;
        return *tree_;
    }

    /// Everything that is replicated next to the dispatcher, in canonical form. @complexity linear in the sessions.
    [[nodiscard]] auto own_bytes() const -> std::vector<std::uint8_t> {
        auto bytes = std::vector<std::uint8_t>{};
        auto out = Encoder{bytes};
        out.put(detail::replica_state_version);
        out.put(own_);
        clients_.put(out);
        tally_.put(out);
        return bytes;
    }

    /// The section of a checkpoint, for a `SnapshotWriter`. @complexity as `own_bytes`.
    [[nodiscard]] auto embedded() const -> EmbeddedSection { return {std::string{replica_section_name}, own_bytes()}; }

    /// True if dispatchers and all that is replicated next to them are equal.
    friend auto operator==(const Replica& a, const Replica& b) -> bool {
        return a.own_ == b.own_ && a.clients_ == b.clients_ && a.tally_ == b.tally_ && a.dispatcher_ == b.dispatcher_;
    }

private:
    using Own = detail::ReplicaState;

    /// Takes an entry back unless it is kept. The dispatcher's session does so for the dispatcher.
    class Step {
    public:
        explicit Step(Replica& replica) : replica_{&replica}, before_{replica.own_} { replica.clients_.begin(); }
        Step(const Step&) = delete;
        auto operator=(const Step&) -> Step& = delete;
        ~Step() {
            if (replica_ == nullptr) { return; }
            replica_->own_ = std::move(before_);
            replica_->clients_.rollback();
            replica_->tree_.reset();  // it may have followed the entry
        }
        void keep() noexcept { replica_ = nullptr; }

    private:
        Replica* replica_;
        Own before_;
    };

    auto stop(const ReplicaFault& fault) -> std::optional<ReplicaFault> { return fault_ = fault; }

    [[nodiscard]] auto moment() const noexcept -> Moment { return Moment{own_.now, {}, {}}; }

    /// Moves log time and settles the work that is due, so that no command is refused for work that is due.
    ///
    /// Only a tick may move time far. An entry with a wrong clock moves it by `ahead_max` beyond the last tick at most,
    /// and so ends no lease early.
    void move_time(const Entry& entry, Events& events) {
        const auto& p = own_.parameters;
        auto time = std::min(entry.time, time_point_max);
        if (std::holds_alternative<entry::Tick>(entry.body)) {
            const auto last = own_.last_tick.value_or(own_.now);
            const auto outage = own_.last_tick ? outage_between(last, time, p.gap_max, p.outage_max) : Duration{0};
            own_.now = std::max(own_.now, time);
            if (outage > Duration{0}) { dispatcher_.apply(command::Postpone{outage}, moment(), events); }
            // Before the first tick time had not begun, so sessions did not age.
            clients_.postpone(own_.last_tick ? outage : std::max(Duration{0}, own_.now - last));
            own_.last_tick = std::max(last, time);
        } else {
            time = std::min(time, own_.last_tick.value_or(TimePoint{}) + p.ahead_max);
            own_.now = std::max(own_.now, std::min(time, time_point_max));
        }
        clients_.expire(own_.now);
        settle(events);
    }

    /// Settles all that is due. Ends at an `Advance` that is refused, for the next one would be, too.
    /// @complexity that of the work that is due.
    void settle(Events& events) {
        for (auto due = dispatcher_.next_deadline(); due && *due <= own_.now; due = dispatcher_.next_deadline()) {
            dispatcher_.apply(command::Advance{}, moment(), events);
            const auto answer = events.answer();
            if (answer < events.size() && std::holds_alternative<event::Refused>(events[answer])) { return; }
        }
    }

    /// Applies commands and appends their answers, unless more is due before one of them than it settles itself. Then
    /// it is false, and nothing has changed.
    [[nodiscard]] auto try_apply(std::span<const Command> commands, Events& events) -> bool {
        auto guard = detail::RollbackGuard{events, events.size()};
        auto session = dispatcher_.session();
        const auto known = answers_.size();
        dispatcher_.apply(commands, moment(), events, answers_);
        const auto is_late = [](const Answer& a) { return a.error == Error::advance_first; };
        if (std::any_of(answers_.begin() + static_cast<std::ptrdiff_t>(known), answers_.end(), is_late)) {
            answers_.resize(known);
            return false;
        }
        session.commit();
        guard.keep();
        return true;
    }

    /// Applies commands and returns their errors. If they make so much due that one of them would be refused, it is
    /// settled before that one.
    auto execute(const std::vector<Command>& commands, Events& events) -> std::vector<std::optional<Error>> {
        const auto all = std::span<const Command>{commands};
        answers_.clear();
        if (!try_apply(all, events)) {
            for (std::size_t i = 0; i < all.size(); ++i) {
                if (try_apply(all.subspan(i, 1), events)) { continue; }
                settle(events);
                dispatcher_.apply(all.subspan(i, 1), moment(), events, answers_);
            }
        }
        auto errors = std::vector<std::optional<Error>>(answers_.size());
        std::transform(answers_.begin(), answers_.end(), errors.begin(), [](const Answer& a) { return a.error; });
        return errors;
    }

    void run(const entry::Requests<Command>& body, const Entry&, EntryEffects& effects) {
        for (const auto& request : body.requests) {
            auto reply = Reply{request.session, request.seq, own_.index, check(request), {}};
            if (reply.verdict == Verdict::applied) {
                reply.answers = execute(request.commands, effects.events);
                clients_.answer(request.session, {request.seq, own_.index, reply.answers}, own_.parameters, own_.now);
            } else if (reply.verdict == Verdict::duplicate) {
                const auto& last = *last_of(request.session);
                reply.index = last.index;
                reply.answers = last.answers;
            }
            effects.replies.push_back(std::move(reply));
        }
    }

    /// Draws with the beacon if it is the next. A late, doubled, skipped or chosen one only moves time.
    void run(const entry::Tick& tick, const Entry& entry, EntryEffects& effects) {
        if (!own_.takes(tick, entry.proposer)) { return; }
        dispatcher_.apply(command::Match{}, Moment{own_.now, Entropy{tick.beacon}, tick.round}, effects.events);
    }

    void run(const entry::Attest&, const Entry&, EntryEffects&) {}  // counted by `attest`, when all else is done

    void run(const entry::Parameters& body, const Entry&, EntryEffects& effects) {
        auto reply =
            operators(body.seq, body.parameters.fault() == nullptr ? Verdict::applied : Verdict::parameter_invalid);
        if (reply.verdict == Verdict::applied) {
            own_.parameters = body.parameters;
            own_.operators = {body.seq, own_.index, {}};
        }
        effects.replies.push_back(std::move(reply));
    }

    void run(const entry::Register& body, const Entry&, EntryEffects& effects) {
        auto reply = Reply{body.session, 0, own_.index, {}, {}};
        reply.verdict = clients_.open(body, own_.parameters, own_.now, own_.index);
        if (reply.verdict == Verdict::registered) { reply.seq = last_of(body.session)->seq; }
        effects.replies.push_back(std::move(reply));
    }

    void run(const entry::Operator<Command>& body, const Entry&, EntryEffects& effects) {
        const auto fits = body.commands.size() <= own_.parameters.commands_max;
        auto reply = operators(body.seq, fits ? Verdict::applied : Verdict::too_many_commands);
        if (reply.verdict == Verdict::applied) {
            reply.answers = execute(body.commands, effects.events);
            own_.operators = {body.seq, own_.index, reply.answers};
        }
        effects.replies.push_back(std::move(reply));
    }

    void run(const entry::ChainHead& body, const Entry& entry, EntryEffects&) { own_.note(body, entry.proposer); }

    /// The reply to an entry of the operator, with the verdict `next` if its turn has come.
    [[nodiscard]] auto operators(std::uint64_t seq, Verdict next) const -> Reply {
        const auto verdict = verdict_on(own_.operators, seq);
        auto reply = Reply{SessionId::null(), seq, own_.index, verdict == Verdict::applied ? next : verdict, {}};
        if (verdict == Verdict::duplicate) {
            reply.index = own_.operators.index;
            reply.answers = own_.operators.answers;
        }
        return reply;
    }

    /// Notes the touched records for the tree, if there is one.
    void note_touched(const Session<Dispatcher>& session) {
        if (!tree_) { return; }
        const auto touched = session.touched();
        for (std::size_t i = 0; i < touched.size(); ++i) {
            touched_[i].insert(touched_[i].end(), touched[i].begin(), touched[i].end());
            touched_count_ += touched[i].size();
        }
        if (touched_count_ > touched_max) { (void)tree(); }
    }

    /// Counts the entry and attests when it is time, or counts the vote that the entry is. Changes the tally as the
    /// last step, because that is not taken back.
    void attest(const Entry& entry, EntryEffects& effects) {
        if (const auto* vote = std::get_if<entry::Attest>(&entry.body)) {
            if (vote->attestation.replica != entry.proposer) { return; }
            auto result = tally_.vote(vote->attestation, own_.parameters.replicas);
            effects.suspects = std::move(result.suspects);
            if (result.diverged) {
                effects.fault = ReplicaFault{ReplicaError::diverged, own_.position, own_.index, {}, result.diverged};
            }
            return;
        }
        ++own_.counted;
        const auto is_time = [&](std::uint32_t every) { return every != 0 && own_.counted % every == 0; };
        const auto with_state = is_time(own_.parameters.state_every);
        if (!with_state && !is_time(own_.parameters.attest_every)) { return; }
        auto own = Attestation{id_, own_.index, own_.events, {}};
        if (with_state) { own.state = root(); }
        tally_.note(own, own_.parameters.attested_max);
        effects.attestation = own;
    }

    static constexpr auto touched_max = std::size_t{1} << 16U;

    Dispatcher dispatcher_;
    ReplicaId id_;
    Own own_{};
    ClientTable clients_{};
    AttestationTally tally_{};
    std::optional<ReplicaFault> fault_{};
    std::optional<StateTree> tree_{};
    Touched touched_{};  // since the tree followed last
    std::size_t touched_count_ = 0;
    std::vector<Answer> answers_{};
};

}}  // namespace allot::v0
