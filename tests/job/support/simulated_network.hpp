#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "job/support/options.hpp"

// A network in virtual time. It loses, doubles, delays and reorders messages, and falls apart, as its options say.

namespace job_test {

/// A member's clock: it stands anywhere, and runs fast or slow.
struct Clock {
    std::int64_t offset = 0;
    std::int64_t skew = 0;  // per mille

    [[nodiscard]] auto local(std::int64_t now) const -> TimePoint {
        return TimePoint{Duration{offset + now + now * skew / 1'000}};
    }
    [[nodiscard]] auto real(TimePoint time, std::int64_t now) const -> std::int64_t {
        const auto elapsed = time.time_since_epoch().count() - offset;
        return std::max(now, elapsed * 1'000 / (1'000 + skew) + 1);
    }
};

class Network {
public:
    enum class Kind : std::uint8_t { boot, wake, deliver, done, crash, paid, stored, renew, lie, told };
    struct Event {
        std::int64_t time = 0;
        std::uint64_t order = 0;
        Kind kind = Kind::wake;
        std::uint32_t node = 0;
        std::uint64_t life = 0;  // of the node, or which message
        std::uint64_t what = 0;

        friend auto operator<(const Event& a, const Event& b) -> bool {
            return a.time != b.time ? a.time > b.time : a.order > b.order;
        }
    };
    struct Letter {
        std::uint32_t from = 0;
        std::string channel;
        allot::JobMessage message;
        std::uint64_t lies = 0;  // those that its author told with it: bits of `Lie`
    };

    Network(const Options& options, std::uint64_t seed) : options_{options}, seed_{seed}, random_{seed} {}

    [[noreturn]] void broken(const std::string& what) const {
        throw Broken{fmt::format("{} (seed {}, at {} ms)", what, seed_, now_)};
    }
    [[nodiscard]] auto options() const -> const Options& { return options_; }
    [[nodiscard]] auto now() const -> std::int64_t { return now_; }
    [[nodiscard]] auto below(std::uint64_t n) -> std::int64_t {
        return n == 0 ? 0 : static_cast<std::int64_t>(random_() % n);
    }
    [[nodiscard]] auto percent(std::uint32_t p) -> bool { return below(100) < static_cast<std::int64_t>(p); }
    [[nodiscard]] auto faulty() const -> bool { return now_ < options_.faults_until; }
    void count(Fault fault, std::uint64_t n = 1) { faults_[static_cast<std::size_t>(fault)] += n; }
    [[nodiscard]] auto faults() const -> const FaultCounts& { return faults_; }
    [[nodiscard]] auto messages() const -> std::uint64_t { return messages_; }

    void at(std::int64_t time, Kind kind, std::uint32_t node, std::uint64_t life = 0, std::uint64_t what = 0) {
        events_.push({time, order_++, kind, node, life, what});
    }
    /// The next event, at whose time it is then; none after the last, or when the run has to be given up.
    [[nodiscard]] auto next() -> std::optional<Event> {
        if (events_.empty() || events_.top().time > options_.give_up_at) { return std::nullopt; }
        const auto event = events_.top();
        events_.pop();
        now_ = event.time;
        return event;
    }
    void draw_partition() {
        if (!options_.partition) { return; }
        cut_from_ = 3'000 + below(20'000);
        cut_until_ = cut_from_ + 10'000 + below(60'000);
    }

    [[nodiscard]] auto letter(std::uint64_t which) const -> const Letter& { return letters_[which]; }
    [[nodiscard]] auto letters() const -> std::size_t { return letters_.size(); }
    /// Writes a letter; it is on its way once it is posted.
    auto write(Letter letter) -> const Letter& { return letters_.emplace_back(std::move(letter)); }
    /// Sends the letter written last to one member.
    void post_to(std::uint32_t to) {
        const auto from = letters_.back().from;
        ++messages_;
        if (now_ >= cut_from_ && now_ < cut_until_ && from % 2 != to % 2) { return count(Fault::partition); }
        if (faulty() && percent(options_.drop_percent)) { return count(Fault::drop); }
        const auto copies = faulty() && percent(options_.duplicate_percent) ? 2 : 1;
        count(Fault::duplicate, static_cast<std::uint64_t>(copies - 1));
        for (auto i = 0; i < copies; ++i) {
            auto wait = 1 + below(options_.delay_max);
            if (faulty() && percent(options_.late_percent)) {
                wait += below(20'000);
                count(Fault::delay);
            }
            auto& last = latest_[{from, to}];
            count(Fault::reorder, now_ + wait < last ? 1 : 0);
            last = std::max(last, now_ + wait);
            at(now_ + wait, Kind::deliver, to, letters_.size() - 1);
        }
    }

private:
    Options options_;
    std::uint64_t seed_;
    std::mt19937_64 random_;
    std::priority_queue<Event> events_;
    std::vector<Letter> letters_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> latest_;
    FaultCounts faults_{};
    std::uint64_t messages_ = 0;
    std::uint64_t order_ = 0;
    std::int64_t now_ = 0;
    std::int64_t cut_from_ = 0;
    std::int64_t cut_until_ = 0;
};

}  // namespace job_test
