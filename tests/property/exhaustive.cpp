#include <cstdint>
#include <string>
#include <vector>

#include "support/any_script.hpp"
#include "support/catch.hpp"
#include "support/invariants.hpp"
#include "support/runner.hpp"
#include "support/trace.hpp"

namespace {

using support::Command;
using support::FastDispatcher;
using support::Memory;
using support::Watch;
using namespace std::chrono_literals;

// The letters of a small world: 2 nodes, 2 tasks of 2 values, room for one waiting task.
class Walk {
public:
    explicit Walk(unsigned depth) : depth_{depth}, d_{setup_.make<FastDispatcher>()} {}

    auto run() -> std::uint64_t {
        descend(Watch{setup_}, Memory{}, 0);
        return sequences_;
    }

private:
    static constexpr auto letters = 14;

    /// The command of a letter, or nothing where it would be the same as another or mean nothing.
    [[nodiscard]] auto command(int letter, const Memory& memory) const -> std::optional<Command> {
        namespace c = allot::command;
        const auto node = [](int id) {
            return c::Join{{.id = id, .gpu = "RTX 4090", .vram = {24}, .stake = id == 0 ? 1 : 4, .models = {"sdxl"}}};
        };
        const auto task = [](int id, int fee) {
            auto spec = allot::TaskSpec{.id = id, .vram_min = {24}, .fee = fee, .duration_estimate = 20s};
            spec.models = {"sdxl"};
            return c::Submit{spec};
        };
        const auto lease = [&](int id) -> const allot::Lease* {
            for (const auto& given : memory.running) {
                if (given.task == allot::TaskId{id}) { return &given; }
            }
            return nullptr;
        };
        switch (letter) {
            case 0: return node(0);
            case 1: return node(1);
            case 2: return task(0, 1);
            case 3: return task(0, 2);
            case 4: return task(1, 1);
            case 5: return task(1, 2);
            case 6: return lease(0) != nullptr ? std::optional<Command>{c::Complete{*lease(0)}} : std::nullopt;
            case 7: return lease(1) != nullptr ? std::optional<Command>{c::Decline{*lease(1)}} : std::nullopt;
            case 8: return c::Leave{0};
            case 9: return c::Pause{1};
            case 10: return c::Resume{1};
            case 11: return c::Cancel{1};
            case 12: return c::Match{};
            case 13:
                return d_.next_deadline() ? std::optional<Command>{c::Advance{}} : std::nullopt;  // to the deadline
            default: return std::nullopt;
        }
    }

    void descend(const Watch& watch, const Memory& memory, unsigned depth) {
        if (depth == depth_) { return; }
        for (auto letter = 0; letter < letters; ++letter) {
            const auto what = command(letter, memory);
            if (!what) { continue; }
            auto moment = allot::Moment{letter == 13 ? *d_.next_deadline() : d_.now()};
            // Low values of tasks come without entropy, so that they wait beside idle nodes until somebody matches.
            if (letter != 2 && letter != 4) { moment.entropy = allot::Entropy{2026}; }
            path_.push_back({*what, moment});
            const auto digest = d_.digest();
            {
                auto session = d_.session();
                auto next = watch;
                auto remembers = memory;
                try {
                    next.before(d_, *what, moment);
                    const auto events = d_.apply(*what, moment);
                    remembers.hear(events);
                    ++sequences_;
                    next.after(d_, *what, moment, events);
                } catch (const std::exception& error) { fail(error.what()); }
                descend(next, remembers, depth + 1);
            }
            if (d_.digest() != digest) { fail("a rollback does not give back the state"); }
            path_.pop_back();
        }
    }

    void fail(const char* why) const {
        auto text = std::string{why};
        for (const auto& step : path_) {
            text += fmt::format("\n    {} ms{}: {}", step.moment.time.time_since_epoch().count(),
                                step.moment.entropy ? "" : ", no entropy", support::text(step.command));
        }
        FAIL(text);
    }

    unsigned depth_;
    support::Setup setup_{(1U << 8U) | (1U << 10U) |
                          (1U << 13U)};  // a small queue, a short window, tries after a timeout
    FastDispatcher d_;
    std::vector<support::Step> path_{};
    std::uint64_t sequences_ = 0;
};

}  // namespace

TEST_CASE("every short sequence of commands in a small world keeps the invariants") {
    const auto depth = static_cast<unsigned>(support::runs(5, 6));
    const auto sequences = Walk{depth}.run();
    CAPTURE(depth, sequences);
    CHECK(sequences > 100'000);
}
