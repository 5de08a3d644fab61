#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "job/support/lies_of_talkers.hpp"

// Lies of a member that owns a queue, or takes one that it has no cause to take.

namespace job_test {

/// The snapshot in a message whose control the liar signs; null if there is none.
inline auto own_control(Liar& me, allot::JobSend& send) -> words::QueueSnapshot* {
    auto* snapshot = std::get_if<words::QueueSnapshot>(&send.message);
    return snapshot != nullptr && snapshot->control && author_of(*snapshot->control) == me.name() ? snapshot : nullptr;
}

/// Two controls of one revision.
class TwoControls : public Lying {
public:
    auto bend(Liar& me, allot::JobSend& send) -> bool override {
        if (own_control(me, send) == nullptr) { return true; }
        auto other = send;
        auto& control = *own_control(me, other)->control;
        control.requests.clear();
        if (control.revision > 0 && !control.given.empty() && !control.items[control.given.back().micro].closed) {
            // The newest lease was never given.
            control.items[control.given.back().micro].hold.reset();
            --control.items[control.given.back().micro].attempts;
            control.given.pop_back();
        }
        control.signature.clear();
        me.tell_both(send, other);
        me.fired(Lie::two_controls);
        return false;
    }
};

/// A queue that is handed to two members.
class TwoHeirs : public Lying {
public:
    auto bend(Liar& me, allot::JobSend& send) -> bool override {
        const auto* said = own_control(me, send);
        if (said == nullptr || said->control->revision != 0) { return true; }
        auto other = send;
        auto& control = *own_control(me, other)->control;
        auto& reign = control.chain.back();
        while (reign.reign.owner == said->control->reign().owner) { reign.reign.owner = node_id(me.victim()); }
        reign.reign.boot = 1;
        reign.signature.clear();
        control.signature.clear();
        me.tell_both(send, other);
        me.fired(Lie::two_heirs);
        return false;
    }
};

/// Two records of one MacroJob with the same results.
class TwoRecords : public Lying {
public:
    auto bend(Liar& me, allot::JobSend& send) -> bool override {
        auto other = send;
        auto* said = std::get_if<words::QueueSnapshot>(&other.message);
        auto* news = std::get_if<words::MacroNews>(&other.message);
        auto* records = said != nullptr ? &said->records : news != nullptr ? &news->records : nullptr;
        auto any = false;
        for (std::size_t i = 0; records != nullptr && i < records->size(); ++i) {
            auto& record = (*records)[i];
            if (record.owner != me.name() || record.epoch == 0) { continue; }
            any = true;
            record.epoch = 0;
            record.disclosed = me.below(2) == 0 ? 0 : 1'000'000;
            record.unverified.clear();
            record.digest = digest_of(record);
            record.signature.clear();
        }
        if (!any) { return true; }
        me.tell_both(send, other);
        me.fired(Lie::two_records);
        return false;
    }
};

/// It owns the queue, and does not hand it over; or it has the queue handed to a life that it never had.
class HoardedQueue : public Lying {
public:
    void act(Liar& me) override {
        const auto macro = me.a_macro();
        me.tell_queue(macro, words::OwnershipRequest{me.plan().job(), macro, me.name(), me.wallet(), 2 + me.below(9)});
    }
    auto hears(Liar& me, const Network::Letter& letter) -> bool override {
        const auto* request = std::get_if<words::OwnershipRequest>(&letter.message);
        if (request == nullptr) { return true; }
        if (me.owns(request->macro)) { me.fired(Lie::hoarded_queue); }
        return false;
    }
};

/// It owns the queue, and takes no note of others' results.
class DeafOwner : public Lying {
public:
    auto hears(Liar& me, const Network::Letter& letter) -> bool override {
        const auto* promise = std::get_if<words::ResultCommitted>(&letter.message);
        const auto* result = std::get_if<words::ResultFound>(&letter.message);
        const auto* key = promise != nullptr  ? &promise->commitment.key
                          : result != nullptr ? &result->record.key
                                              : nullptr;
        if (key == nullptr || !me.owns(key->macro)) { return true; }
        me.fired(Lie::deaf_owner);
        return false;
    }
};

/// It ends the MacroJob, and tells nobody.
class KeptRecord : public Lying {
public:
    auto bend(Liar& me, allot::JobSend& send) -> bool override {
        const auto own = [&](auto& records) {
            if (std::erase_if(records, [&](const auto& r) { return r.owner == me.name(); }) > 0) {
                me.fired(Lie::kept_record);
            }
        };
        if (auto* said = std::get_if<words::QueueSnapshot>(&send.message)) { own(said->records); }
        if (auto* news = std::get_if<words::MacroNews>(&send.message)) { own(news->records); }
        return true;
    }
};

/// It owns the last queue, and never asks the contract.
class KeptEnd : public Lying {
public:
    auto heeds(Liar& me, const allot::JobEvent& event) -> bool override {
        if (!std::holds_alternative<allot::job_event::EscrowReleaseRequested>(event) &&
            !std::holds_alternative<allot::job_event::EscrowRefundRequested>(event)) {
            return true;
        }
        me.fired(Lie::kept_end);
        return false;
    }
};

/// It takes queues over whose owners are not silent.
class UsurpedQueue : public Lying {
public:
    void act(Liar& me) override {
        const auto macro = me.a_macro();
        const auto* queue = me.queue(macro);
        if (queue == nullptr || queue->state().owns() || queue->record() != nullptr || me.below(3) != 0) { return; }
        auto said = queue->snapshot();
        auto& control = *said.control;
        const auto last = control.reign();
        control.clock = queue->state().clock(me.local());
        control.chain.push_back({{last.epoch + 1, me.name(), 1, last.rank(), true, control.clock}, {}});
        control.revision = 1;
        control.signature.clear();
        me.tell_queue(macro, said);
        me.believe(said);
        me.fired(Lie::usurped_queue);
    }
};

/// It says that a holder committed to a block to which it did not commit.
class ChangedProgress : public Lying {
public:
    auto bend(Liar& me, allot::JobSend& send) -> bool override {
        auto* said = own_control(me, send);
        if (said == nullptr || said->control->revision == 0) { return true; }
        for (auto& lease : said->control->given) {
            if (lease.holder == me.name() || said->control->items[lease.micro].closed) { continue; }
            lease.progress = {1 + lease.progress.blocks % me.plan().slicing().blocks_per_micro, me.noise()};
            said->control->signature.clear();
            me.fired(Lie::changed_progress);
        }
        return true;
    }
};

}  // namespace job_test
