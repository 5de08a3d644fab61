#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "job/support/liar.hpp"
#include "job/support/lies_of_owners.hpp"
#include "job/support/lies_of_talkers.hpp"
#include "job/support/lies_of_workers.hpp"
#include "job/support/simulation.hpp"

// A network in which the last members lie, and what honest members are promised in it.

namespace job_test {

/// The lie of a kind.
inline auto lying(Lie lie) -> std::unique_ptr<Lying> {
    switch (lie) {
        case Lie::forged_statement: return std::make_unique<ForgedStatement>();
        case Lie::forged_record: return std::make_unique<ForgedRecord>();
        case Lie::record_of_nothing: return std::make_unique<RecordOfNothing>();
        case Lie::forged_control: return std::make_unique<ForgedControl>();
        case Lie::high_numbers: return std::make_unique<HighNumbers>();
        case Lie::forged_rejection: return std::make_unique<ForgedRejection>();
        case Lie::forged_end: return std::make_unique<ForgedEnd>();
        case Lie::replay: return std::make_unique<Replay>();
        case Lie::other_queue: return std::make_unique<OtherQueue>();
        case Lie::two_commitments: return std::make_unique<TwoCommitments>();
        case Lie::two_controls: return std::make_unique<TwoControls>();
        case Lie::two_heirs: return std::make_unique<TwoHeirs>();
        case Lie::two_records: return std::make_unique<TwoRecords>();
        case Lie::flood: return std::make_unique<Flood>();
        case Lie::made_up_claim: return std::make_unique<MadeUpClaim>();
        case Lie::two_votes: return std::make_unique<TwoVotes>();
        case Lie::withheld_result: return std::make_unique<WithheldResult>();
        case Lie::hoarded_queue: return std::make_unique<HoardedQueue>();
        case Lie::deaf_owner: return std::make_unique<DeafOwner>();
        case Lie::kept_record: return std::make_unique<KeptRecord>();
        case Lie::kept_end: return std::make_unique<KeptEnd>();
        case Lie::wasted_lease: return std::make_unique<WastedLease>();
        case Lie::copied_result: return std::make_unique<CopiedResult>();
        case Lie::stalled_lease: return std::make_unique<StalledLease>();
        case Lie::other_name: return std::make_unique<OtherName>();
        case Lie::shared_lie: return std::make_unique<SharedLie>();
        case Lie::usurped_queue: return std::make_unique<UsurpedQueue>();
        case Lie::changed_progress: return std::make_unique<ChangedProgress>();
        case Lie::count: break;
    }
    return std::make_unique<Lying>();
}

class AmongLiars : public Simulation {
public:
    AmongLiars(const Options& options, std::uint64_t seed) : Simulation{options, seed} {
        for (auto i = options_.nodes - options_.liars; i < options_.nodes; ++i) {
            auto& liar = liars_.emplace_back(std::make_unique<Member>(*this, i));
            while (liar->ways.empty()) {  // liars need not all tell the same lies
                for (std::size_t lie = 0; lie < lie_count; ++lie) {
                    const auto told = (options_.lies & bit_of(static_cast<Lie>(lie))) != 0;
                    if (told && !percent(25)) {
                        liar->ways.emplace_back(static_cast<Lie>(lie), lying(static_cast<Lie>(lie)));
                    }
                }
            }
            network_.at(500 + below(1'000), Kind::lie, i);
        }
        network_.at(tell_every, Kind::told, options_.nodes);
    }

    /// How often each lie was told.
    [[nodiscard]] auto told() const -> const LieCounts& { return told_; }
    /// How many letters with a lie honest members let pass their outer checks, and how many they took.
    [[nodiscard]] auto looked_into() const -> const LieCounts& { return looked_into_; }
    [[nodiscard]] auto taken() const -> const LieCounts& { return taken_; }
    [[nodiscard]] auto wrong() const -> const WrongWork& { return contract_.wrong(); }

protected:
    [[nodiscard]] auto lies(std::uint32_t i) const -> bool override {
        return i < options_.nodes && i + options_.liars >= options_.nodes;
    }
    void say(std::uint32_t from, const allot::JobSend& send) override {
        if (!lies(from)) { return broadcast(from, send); }
        auto bent = send;
        fired_ = 0;
        if (!all_of(from, [&](Lying& way, Liar& me) { return way.bend(me, bent); })) { return; }
        telling_ = fired_;
        broadcast(from, bent);
        telling_ = 0;
    }
    void received(const Network::Letter& letter, std::optional<allot::JobError> error) override {
        for (std::size_t lie = 0; lie < lie_count; ++lie) {
            if ((letter.lies & bit_of(static_cast<Lie>(lie))) == 0) { continue; }
            looked_into_[lie] += error && is_outer(*error) ? 0 : 1;
            taken_[lie] += error ? 0 : 1;
        }
    }
    auto hears(std::uint32_t node, const Network::Letter& letter) -> bool override {
        if (!lies(node)) { return true; }
        const auto* said = std::get_if<words::QueueSnapshot>(&letter.message);
        if (said != nullptr && said->control && !lies(letter.from)) {
            heard_.push_back(letter);
            if (heard_.size() > 200) { heard_.pop_front(); }
        }
        return all_of(node, [&](Lying& way, Liar& me) { return way.hears(me, letter); });
    }
    auto heeds(std::uint32_t node, const allot::JobEvent& event) -> bool override {
        return !lies(node) || all_of(node, [&](Lying& way, Liar& me) { return way.heeds(me, event); });
    }
    auto writes(std::uint32_t node) -> bool override {
        return !lies(node) || all_of(node, [&](Lying& way, Liar& me) { return way.writes(me); });
    }
    auto finishes(std::uint32_t node) -> bool override {
        return !lies(node) || all_of(node, [&](Lying& way, Liar& me) { return way.finishes(me); });
    }
    auto time_for(std::uint32_t node, std::int64_t honest) -> std::int64_t override {
        if (!lies(node)) { return honest; }
        (void)all_of(node, [&](Lying& way, Liar& me) {
            honest = way.time_for(me, honest);
            return true;
        });
        return honest;
    }
    auto hashes_of(std::uint32_t node, const Execution& job) -> std::vector<Hash256> override {
        auto hashes = Simulation::hashes_of(node, job);
        if (!lies(node)) { return hashes; }
        (void)all_of(node, [&](Lying& way, Liar& me) {
            way.find(me, job.key, hashes);
            return true;
        });
        return hashes;
    }
    void more(const Event& event) override {
        if (event.kind == Kind::told) {
            // The member that asked may keep the answer for itself.
            if (contract_.paid()) {
                broadcast(options_.nodes, {allot::job_channel(plan_.job()), words::JobEnded{*contract_.paid()}});
            }
            return network_.at(now() + tell_every, Kind::told, options_.nodes);
        }
        if (nodes_[event.node].processor) {
            (void)all_of(event.node, [&](Lying& way, Liar& me) {
                way.act(me);
                return true;
            });
        }
        network_.at(now() + 700 + below(600), Kind::lie, event.node);
    }

    void check_end() override {
        Simulation::check_end();
        const auto& end = *contract_.paid();
        if (!proven(contract, end.digest, end.signature)) { network_.broken("the end is not the contract's"); }
        if (out_.named_honest > 0) { network_.broken("an honest member is named a culprit"); }
        if (end.outcome != allot::JobOutcome::complete) { network_.broken("liars let the job fail" + describe()); }
        auto paid = std::set<Hash256>{};
        for (const auto& record : contract_.ended_with()) {
            for (const auto& accepted : record.accepted) { paid.insert(accepted.digest); }
        }
        for (const auto& [key, digest] : contract_.verified()) {
            const auto& result = contract_.result(digest);
            const auto honest = [&](std::uint32_t i) { return !lies(i) && node_id(i) == result.node; };
            for (std::uint32_t i = 0; i < options_.nodes; ++i) {
                if (honest(i) && !paid.contains(digest)) {
                    network_.broken(fmt::format("verified work of the honest node {} is not paid", i));
                }
            }
        }
    }

private:
    static constexpr std::int64_t tell_every = 5'000;

    class Member : public Liar {
    public:
        Member(AmongLiars& world, std::uint32_t i) : world_{world}, self_{i} {}

        [[nodiscard]] auto self() const -> std::uint32_t override { return self_; }
        [[nodiscard]] auto plan() const -> const allot::JobPlan& override { return world_.plan_; }
        [[nodiscard]] auto processor() const -> const JobProcessor& override { return *world_.nodes_[self_].processor; }
        [[nodiscard]] auto local() const -> TimePoint override { return world_.local(world_.nodes_[self_]); }
        [[nodiscard]] auto below(std::uint64_t n) -> std::uint64_t override {
            return static_cast<std::uint64_t>(world_.below(n));
        }
        [[nodiscard]] auto victim() -> std::uint32_t override {
            return static_cast<std::uint32_t>(below(options().nodes - options().liars));
        }
        [[nodiscard]] auto options() const -> const Options& override { return world_.options_; }
        [[nodiscard]] auto heard() const -> const std::deque<Network::Letter>& override { return world_.heard_; }
        void fired(Lie lie) override {
            ++world_.told_[static_cast<std::size_t>(lie)];
            world_.fired_ |= bit_of(lie);
        }
        void tell(const allot::JobSend& send) override { world_.broadcast(self_, send); }
        void tell_one(std::uint32_t to, const allot::JobSend& send, bool is_true) override {
            const auto telling = std::exchange(world_.telling_, is_true ? 0 : world_.telling_);
            world_.prepare(self_, send);
            world_.network_.post_to(to);
            world_.telling_ = telling;
        }
        void claim(const Hash256& claim, const allot::ClaimBid& bid) override { world_.cas_.try_emplace(claim, bid); }
        void believe(const allot::JobMessage& message) override {
            auto signed_one = message;
            sign_own(signed_one, name(), [&](const Hash256& digest) { return signature_of(name(), digest); });
            world_.act(
                self_, [&](auto& p) { return p.on_message(name(), signed_one, local(), proven); }, true);
        }

        std::vector<std::pair<Lie, std::unique_ptr<Lying>>> ways{};

    private:
        AmongLiars& world_;
        std::uint32_t self_;
    };

    /// An error of the checks that a message has to pass before its contents count: its job, its form, its authors.
    static auto is_outer(allot::JobError error) -> bool {
        using E = allot::JobError;
        constexpr auto outer =
            std::array{E::job_unknown,        E::queue_missing,        E::author_wrong,        E::author_unproven,
                       E::macro_unknown,      E::author_without_right, E::message_shape_wrong, E::message_too_large,
                       E::message_time_wrong, E::reign_too_early,      E::node_invalid};
        return std::find(outer.begin(), outer.end(), error) != outer.end();
    }
    /// Asks all lies of a liar, until one says no.
    template <class F>
    auto all_of(std::uint32_t node, F&& f) -> bool {
        auto& liar = *liars_[node + options_.liars - options_.nodes];
        return std::all_of(liar.ways.begin(), liar.ways.end(), [&](auto& way) {
            const auto before = std::exchange(telling_, bit_of(way.first));
            const auto goes_on = f(*way.second, liar);
            telling_ = before;
            return goes_on;
        });
    }

    std::vector<std::unique_ptr<Member>> liars_;
    std::deque<Network::Letter> heard_;
    LieCounts told_{};
    LieCounts looked_into_{};
    LieCounts taken_{};
    std::uint64_t fired_ = 0;  // lies of the message that is bent now
};

}  // namespace job_test
