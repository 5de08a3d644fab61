#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "support/chance.hpp"
#include "support/turns.hpp"
#include "workload/population.hpp"

namespace bench {

/// The pool alone, a quarter of the nodes busy. One operation: draw for a task of random size, mark the drawn node
/// busy, mark a random busy one available. Tasks are spread over sizes as nodes are, so two thirds of the nodes fit on
/// average.
///
/// With `with_models` each task asks for one model, popular ones more often (Zipf), and holders go first.
///
/// A contestant offers `draw(row, model)` (an index of its own, nothing when there is none), `busy(index)`,
/// `available(index)`.
template <class Pool>
class Draws {
public:
    explicit Draws(std::size_t nodes, bool with_models = false) : pool_{nodes, with_models}, with_models_{with_models} {
        for (std::uint32_t i = 0; i < nodes; i += 4) {
            pool_.busy(i);
            busy_.push_back(i);
        }
    }

    /// Nanoseconds of so many operations. What they ask for is made outside the timed stretches, 64 at a time.
    auto turn(std::size_t operations) -> double {
        auto watch = Stopwatch{};
        for (; operations > 0; operations -= std::min(operations, chunk)) {
            prepare(std::min(operations, chunk));
            watch.start();
            for (auto& step : steps_) {
                step.drawn = pool_.draw(step.row, step.model);
                if (step.drawn) {
                    pool_.busy(*step.drawn);
                    pool_.available(step.released);
                }
            }
            watch.stop();
            for (const auto& step : steps_) {
                if (step.drawn) { busy_[step.place] = *step.drawn; }
            }
        }
        return watch.nanoseconds();
    }

private:
    static constexpr std::size_t chunk = 64;
    struct Step {
        std::uint32_t row;
        std::optional<std::uint32_t> model;
        std::uint32_t place;  // in busy_, different in each step of a chunk
        std::uint32_t released;
        std::optional<std::uint32_t> drawn{};
    };

    void prepare(std::size_t count) {
        steps_.clear();
        const auto slice = busy_.size() / count;
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto place = static_cast<std::uint32_t>(i * slice) + chance_.below(slice);
            const auto model = with_models_ ? std::optional{zipf_(chance_)} : std::nullopt;
            steps_.push_back({chance_.geometric(rows), model, place, busy_[place]});
        }
    }

    Pool pool_;
    bool with_models_;
    std::vector<std::uint32_t> busy_;
    std::vector<Step> steps_;
    Zipf zipf_{models_total};
    Chance chance_{3};
};

}  // namespace bench
