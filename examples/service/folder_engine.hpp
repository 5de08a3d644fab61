#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <allot/journal/posix_folder.hpp>
#include <allot/replica/replica_store.hpp>

#include "replica_engine.hpp"

namespace service {

/// A single replica, whose log is a folder.
template <class Dispatcher>
class FolderEngine final : public ReplicaEngine<Dispatcher> {
    using Base = ReplicaEngine<Dispatcher>;
    using typename Base::Body;
    using typename Base::Clock;
    using Store = allot::ReplicaStore<Dispatcher, allot::PosixFolder>;

public:
    FolderEngine(const Engine::Options& options, Dispatcher composed)
        : Base{options, composed}, store_{opened(std::move(composed))} {
        is_replaying_ = false;
        // Events before the snapshot are not told again.
        const auto first = first_seen_.value_or(number_of({replica().index() + 1, 0}));
        if (!store_.store().snapshots().empty()) { this->log_.forget_before(first); }
        if (replica().operator_seq() < 2) { set_up(); }
        if (auto head = this->due_head()) { append({*std::move(head)}, this->wall()); }
    }

    auto has_work() const -> bool override { return appended_ || !this->batch_.empty() || !this->bodies_.empty(); }

    auto turn(allot::TimePoint now) -> bool override {
        for (auto& proposal : std::exchange(this->bodies_, {})) { append(std::move(proposal), now); }
        while (!this->batch_.empty()) {
            append({allot::entry::Requests{this->take_requests([](const auto& /*encoding*/) {})}}, now);
        }
        appended_ = false;
        if (!failed_) { failed_ = store_.sync(sink_); }
        this->record();
        if (failed_) {
            this->give_up(Clock::now(), {503, "log_failed", "ask again with the same session and seq: " + fault(), 5});
        }
        return !failed_ && !replica().fault();
    }

    void tick(allot::TimePoint now) override {
        if (auto body = this->due_tick(now)) { append({*std::move(body)}, now); }
    }

    auto fault() const -> std::string override {
        if (failed_) {
            return this->options_.folder + '/' + store_.store().file() + ": " + std::string{message(*failed_)};
        }
        return replica().fault() ? std::string{message(replica().fault()->error)} : std::string{};
    }

private:
    /// Passes effects on. While the folder is opened, only events that were told before come again.
    struct Sink {
        FolderEngine* engine;
        void event(allot::EffectId id, const allot::Event& event) {
            if (!engine->first_seen_) { engine->first_seen_ = number_of(id); }
            if (engine->is_replaying_) { return engine->log_.add(id, event); }
            engine->hear(id, event);
        }
        void reply(const allot::Reply& reply) {
            if (engine->is_replaying_) { return; }
            // Only replies to registrations have seq 0: no request has it.
            const auto is_request =
                !reply.session.is_null() && reply.seq != 0 && reply.verdict != allot::Verdict::registered;
            if (is_request) { return engine->give(reply); }
            engine->give(engine->replies_due_.front(), reply);
            engine->replies_due_.pop_front();
        }
        void attest(const allot::Attestation&) {}  // a single node has no one to compare with
        void suspect(const allot::Divergence&) {}
    };

    auto replica() const -> const allot::Replica<Dispatcher>& override { return store_.replica(); }
    auto state_root() -> allot::Hash256 override { return store_.root(); }
    auto is_alone() const -> bool override { return true; }
    void add_status(allot::Json& out) const override {
        out["role"] = "single";
        out["synced"] = store_.store().synced();
        out["snapshots"] = store_.store().snapshots();
        out["snapshot_failed"] = store_.store().snapshot_error().has_value();
    }
    void add_metrics(::metrics::Exposition& out) const override {
        out.one("allot_log_synced", "counter", "Entries that outlast a crash.", store_.store().synced());
        out.one("allot_snapshot_failed", "gauge", "1 if the last snapshot could not be written.",
                store_.store().snapshot_error().has_value() ? 1 : 0);
    }

    auto opened(Dispatcher composed) -> Store {
        const auto& path = this->options_.folder;
        auto folder = allot::PosixFolder::open(path);
        if (!folder) { throw std::runtime_error{path + ": " + std::string{message(folder.error())}}; }
        auto parameters = allot::StoreParameters{};
        parameters.checkpoint_every = this->options_.checkpoint_every;
        auto store = Store::open(*std::move(folder), std::move(composed), 0, sink_, parameters);
        if (!store) {
            const auto& f = store.error();
            throw std::runtime_error{path + "/" + f.file + ": " + std::string{message(f.error)} +
                                     (f.io ? " (" + std::string{message(*f.io)} + ")" : std::string{})};
        }
        return *std::move(store);
    }

    /// The first entries of a log: the parameters, which are the same for all who read it. A crash may have kept the
    /// first alone.
    void set_up() {
        if (replica().operator_seq() == 0) { append({allot::entry::Parameters{1, this->parameters_}}, this->wall()); }
        if (this->first_commands_.empty()) { return; }
        append({allot::entry::Operator<typename Base::Command>{2, this->first_commands_}}, this->wall());
    }

    void append(typename Base::Proposal proposal, allot::TimePoint now) {
        if (failed_) { return; }
        const auto nonce = this->begun(proposal);
        if (has_reply(proposal.body)) { replies_due_.push_back(nonce); }
        failed_ = store_.apply({0, nonce, now, std::move(proposal.body)});
        appended_ = true;
    }
    /// True for an entry that has one reply of its own.
    static auto has_reply(const Body& body) -> bool {
        return std::visit(
            []<class B>(const B&) {
                return std::is_same_v<B, allot::entry::Parameters> || std::is_same_v<B, allot::entry::Register> ||
                       std::is_same_v<B, allot::entry::Operator<typename Base::Command>>;
            },
            body);
    }

    bool is_replaying_ = true;  // the folder is being opened
    std::optional<std::uint64_t> first_seen_{};
    std::deque<std::uint64_t> replies_due_{};  // nonces of entries that are no requests, whose replies were not given
    bool appended_ = false;
    std::optional<allot::IoError> failed_{};
    Sink sink_{this};
    Store store_;
};

}  // namespace service
