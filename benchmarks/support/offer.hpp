#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Does so many operations and answers the nanoseconds of all of them. What they ask for is made outside the timed
/// stretches.
using Turn = std::function<double(std::size_t operations)>;

/// A workload with one contestant, by name: subject/workload/contestant. Google Benchmark (benchmarks.cpp) and the
/// instruction counts (instructions.cpp) choose among these.
struct Offer {
    std::string name;
    std::vector<std::size_t> sizes;
    std::size_t operations;  ///< In one turn.
    std::function<Turn(std::size_t size)> build;
};
[[nodiscard]] auto offers() -> std::vector<Offer>&;

inline const auto all_sizes = std::vector<std::size_t>{1'000, 10'000, 100'000, 1'000'000};

/// A turn of a workload that lives as long as the turn.
template <class Workload, class... Args>
auto turn_of(std::shared_ptr<Workload> workload, Args... args) -> Turn {
    return [=](std::size_t operations) { return workload->turn(operations, args...); };
}

/// Offers a workload whose constructor takes the size first.
template <class Workload, class... Args>
void offer(const std::string& name, const std::vector<std::size_t>& sizes, std::size_t operations, Args... args) {
    offers().push_back({name, sizes, operations,
                        [=](std::size_t size) { return turn_of(std::make_shared<Workload>(size, args...)); }});
}

}  // namespace bench
