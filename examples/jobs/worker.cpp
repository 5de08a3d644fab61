#include "worker.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <variant>

#include "broker.hpp"
#include "common.hpp"
#include "wire.hpp"

namespace jobs {
namespace {

/// The current work.
struct Doing {
    allot::MicroKey key;
    allot::FencingToken token;
    std::vector<std::uint64_t> blocks{};  // empty until dealt
    std::vector<allot::Hash256> hashes{};
    allot::TimePoint next{};  // time at which the next block is done, or is asked for again
    std::size_t renewed = 0;  // blocks at the last renewal
};

class Worker {
public:
    Worker(const WorkerOptions& options)
        : options_{options}, broker_{options.name, options.port}, file_{read_file(options.file)},
          boot_{std::random_device{}()}, processor_{{allot::NodeId{options.name},
                                                     allot::WalletId{"wallet of " + options.name}, boot_},
                                                    parameters(),
                                                    allot::Intent{{400ms, 3s}},
                                                    now()} {}

    [[noreturn]] void run() {
        broker_.listen(deals_given + options_.name);
        broker_.listen(escrow_said + options_.name);
        follow(processor_.start(now()));
        while (true) {
            const auto due = std::min(processor_.next_deadline(), now() + 50ms);
            const auto wait = std::max<std::int64_t>(0, (due - now()).count());
            broker_.poll(static_cast<int>(wait),
                         [&](const std::string& channel, const std::string& text) { hear(channel, text); });
            follow(processor_.tick(now()));
            work();
            if (asking_ && now() >= ask_at_) {
                broker_.say(escrow_asked, encode(*asking_));
                ask_at_ = now() + 2s;
            }
        }
    }

private:
    void hear(const std::string& channel, const std::string& text) {
        if (channel == deals_given + options_.name) {
            const auto deal = decode_deal(text);
            if (deal && doing_ && doing_->key == deal->key && doing_->blocks.empty()) {
                doing_->blocks = deal->blocks;
                doing_->next = now() + options_.block_time;
            }
        } else if (channel == escrow_said + options_.name) {
            if (const auto settlement = decode_settlement(text); settlement && asking_) {
                asking_.reset();
                follow(processor_.on_settlement(*settlement, now()));
            }
        } else if (const auto letter = decode(text)) {
            follow(processor_.on_message(letter->sender, letter->message, now()));
        }
    }

    /// Applies the effects of the state machine. A refused input, such as a late message, has changed nothing.
    void follow(const allot::JobEffects& effects) {
        for (const auto& channel : effects.joined) { broker_.listen(channel); }
        for (const auto& send : effects.sends) {
            broker_.say(send.channel, encode(Letter{processor_.self().node, send.message}));
        }
        for (const auto& write : effects.writes) { broker_.say(store, encode(write.record)); }
        for (const auto& event : effects.events) {
            if (const auto* leased = std::get_if<allot::job_event::MicroLeased>(&event)) {
                doing_ = Doing{leased->key, leased->token, {}, {}, now()};
            } else if (const auto* release = std::get_if<allot::job_event::EscrowReleaseRequested>(&event)) {
                asking_ = EscrowAsk{processor_.self().node, release->records, release->as};
            } else if (const auto* refund = std::get_if<allot::job_event::EscrowRefundRequested>(&event)) {
                asking_ = EscrowAsk{processor_.self().node, refund->records, refund->as};
            }
        }
    }

    void work() {
        const auto lease = processor_.work();
        if (!lease || !doing_ || lease->key != doing_->key || lease->token != doing_->token) {
            doing_.reset();
            return;
        }
        const auto blocks = doing_->hashes.size();
        if (now() >= lease->renew_at && blocks > doing_->renewed) {
            follow(processor_.renew(*lease, static_cast<std::uint32_t>(blocks), doing_->hashes.back(), now()));
            doing_->renewed = blocks;
        }
        if (now() < doing_->next) { return; }
        if (doing_->blocks.empty()) {
            broker_.say(deals_asked, encode(Deal{doing_->key, {}}) + "\n" + options_.name);
            doing_->next = now() + 300ms;
            return;
        }
        const auto block = doing_->blocks[doing_->hashes.size()];
        const auto honest = block_hash(file_, block, options_.blocks);
        doing_->hashes.push_back(options_.cheats ? allot::RecordHasher{"made up"}.hash(honest).finish() : honest);
        doing_->next += options_.block_time;
        if (doing_->hashes.size() == doing_->blocks.size()) {
            follow(processor_.complete(*lease, doing_->hashes, "mem://" + options_.name, now()));
            doing_.reset();
        }
    }

    WorkerOptions options_;
    Broker broker_;
    std::string file_;
    std::uint64_t boot_;
    allot::JobProcessor processor_;
    std::optional<Doing> doing_{};
    std::optional<EscrowAsk> asking_{};
    allot::TimePoint ask_at_{};
};

}  // namespace

void run_worker(const WorkerOptions& options) { Worker{options}.run(); }

}  // namespace jobs
