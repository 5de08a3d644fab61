#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <allot/core/node.hpp>
#include <allot/core/outcome.hpp>
#include <allot/core/random.hpp>
#include <allot/core/task.hpp>
#include <allot/core/weight.hpp>

namespace allot { inline namespace v0 {

/// Checks of a policy's promises beyond its signatures, for the tests of its author.
///
/// Each calls a policy with many values drawn from a seed and returns the first breach it finds. They need no test
/// framework: `if (const auto finding = allot::laws::monotone(Mine{})) { ... }`. An empty finding proves nothing; it
/// only means that no try broke a law.
namespace laws {

/// Result of a check: empty, or one sentence that names the broken law and the inputs.
using Finding = std::optional<std::string>;

/// A value as a part of a finding. Fixed-point numbers are shown as the integers they are.
[[nodiscard]] inline auto text(std::string_view value) -> std::string { return std::string{value}; }
[[nodiscard]] inline auto text(u128 value) -> std::string { return to_decimal(value); }
[[nodiscard]] inline auto text(std::integral auto value) -> std::string { return std::to_string(value); }
[[nodiscard]] inline auto text(Score value) -> std::string { return text(value.raw()) + "/2^30"; }
[[nodiscard]] inline auto text(Weight value) -> std::string { return text(value.raw()) + "/2^92"; }
[[nodiscard]] inline auto text(Duration value) -> std::string { return text(value.count()) + " ms"; }
[[nodiscard]] inline auto text(TimePoint value) -> std::string { return text(value.time_since_epoch()); }
[[nodiscard]] inline auto text(const Value& value) -> std::string {
    return text(value.num()) + "/" + text(std::uint64_t{value.den()});
}
[[nodiscard]] inline auto text(StakeRoot value) -> std::string {
    return value.is_zero() ? "0" : text(value.mantissa()) + "*2^" + text(value.exponent());
}
[[nodiscard]] inline auto text(const Factors& f) -> std::string {
    return "stake root " + text(f.stake_root) + " of " + text(f.stake_root_max) + ", qos " + text(f.qos) + ", boost " +
           text(f.boost_num) + "/" + text(f.boost_den);
}

/// The parts as one sentence.
template <class... Parts>
[[nodiscard]] auto sentence(const Parts&... parts) -> std::string {
    auto whole = std::string{};
    ((whole += text(parts)), ...);
    return whole;
}

/// Draws values to test a policy with. Equal seeds give equal values, on every machine; names come from a small set, so
/// that they often match.
class Sampler {
public:
    explicit Sampler(std::uint64_t seed) : random_{Entropy{seed}, Purpose{255}, Random::Subject{}} {}

    /// The stream itself.
    [[nodiscard]] auto random() noexcept -> Random& { return random_; }
    /// A number below `n`.
    /// @pre `n > 0`.
    [[nodiscard]] auto below(std::uint64_t n) -> std::uint64_t { return random_.below(n); }
    /// A number below `n`, in 32 bits.
    /// @pre `n > 0`.
    [[nodiscard]] auto small(std::uint32_t n) -> std::uint32_t { return static_cast<std::uint32_t>(below(n)); }
    /// True once in `n` times.
    [[nodiscard]] auto once_in(std::uint32_t n) -> bool { return below(n) == 0; }

    /// A number of any magnitude up to `bits` bits, zero among them.
    [[nodiscard]] auto magnitude(std::uint32_t bits) -> u128 {
        const auto width = small(bits + 1);
        return width == 0 ? u128{0} : u128::from_parts(random_.next(), random_.next()) >> (128 - width);
    }
    /// An amount that commands admit.
    [[nodiscard]] auto amount() -> Amount { return Amount{magnitude(96)}; }
    /// A score; often zero, one or tiny.
    [[nodiscard]] auto score() -> Score {
        switch (below(8)) {
            case 0: return Score::zero();
            case 1: return Score::one();
            case 2: return Score::from_raw(static_cast<std::uint32_t>(magnitude(30)));
            default: return Score::from_raw(small(Score::one().raw() + 1));
        }
    }
    /// A length of time below 2^`bits` ms.
    [[nodiscard]] auto duration(std::uint32_t bits) -> Duration {
        return Duration{static_cast<std::int64_t>(magnitude(bits).low())};
    }
    /// Factors of a node whose stake is at most the largest, with a boost of at least one.
    [[nodiscard]] auto factors() -> Factors {
        auto stake = magnitude(96);
        auto largest = once_in(4) ? stake : magnitude(96);
        if (largest < stake) { std::swap(stake, largest); }
        const auto unit = 1 + below(once_in(4) ? 100'000 : 20);
        const auto boost = unit + below(once_in(4) ? unit * 50 : unit + 1);
        return {StakeRoot::from(stake), StakeRoot::from(largest), score(), boost, unit};
    }

    /// A short name out of few, beginning as `kind` does.
    [[nodiscard]] auto name(std::string_view kind) -> std::string {
        return std::string{kind} + std::to_string(below(4));
    }
    /// Up to three names.
    /// @complexity constant.
    [[nodiscard]] auto names(std::string_view kind) -> std::vector<std::string> {
        auto list = std::vector<std::string>{};
        while (list.size() < 3 && !once_in(2)) { list.push_back(name(kind)); }
        return list;
    }
    /// VRAM of 1 to 80 GiB, mostly out of the usual sizes.
    [[nodiscard]] auto vram() -> Gibibytes { return {once_in(4) ? 1 + small(80) : 8U << small(4)}; }
    /// A software version.
    [[nodiscard]] auto software() -> SoftwareVersion { return {small(3), small(3), small(3)}; }
    /// A node class.
    [[nodiscard]] auto node_class() -> NodeClass {
        return {name("GPU "), vram(), once_in(2) ? std::string{} : name("platform "), software()};
    }
    /// A requirement as the dispatcher interns it: lists sorted, without duplicates.
    /// @complexity constant: lists of a few elements.
    [[nodiscard]] auto requirement() -> Requirement;
    /// A node record.
    [[nodiscard]] auto node() -> Node {
        auto node = Node{};
        node.id = NodeId{small(1'000)};
        const auto of = OperatorId{small(100)};
        node.staked(amount());
        node.state = NodeState::available;
        node.node_class = ClassId{small(16)};
        node.slot = small(1'000);
        node.belongs_to(of, names("label "));
        return node;
    }
    /// A task record.
    /// @complexity constant: lists of a few elements.
    [[nodiscard]] auto task() -> Task {
        auto task = Task{};
        task.id = TaskId{small(1'000)};
        task.fee = amount();
        task.duration_estimate = Duration{1} + duration(31);
        task.value = {task.fee.units, static_cast<std::uint64_t>(task.duration_estimate.count())};
        task.sequence = below(1'000);
        task.attempt = small(4);
        task.state = TaskState::queued;
        task.requirement = RequirementId{small(16)};
        const auto labels = names("label ");
        auto& rest = task.rest.made();
        rest.labels.assign(labels.begin(), labels.end());
        while (rest.models.size() < 3 && !once_in(2)) {
            rest.models.push_back(ModelId{4 * static_cast<std::uint32_t>(rest.models.size()) + small(4)});
        }
        return task;
    }
    /// An outcome of a node; a verdict gives at most `points_max`.
    [[nodiscard]] auto outcome(std::uint32_t points_max) -> Outcome {
        const auto kind = static_cast<OutcomeKind>(below(static_cast<std::uint64_t>(OutcomeKind::scored) + 1));
        return {kind, kind == OutcomeKind::scored ? small(points_max + 1) : 0};
    }
    /// An outcome of a node that serves badly.
    [[nodiscard]] auto bad_outcome() -> Outcome {
        switch (below(4)) {
            case 0: return {OutcomeKind::timeout};
            case 1: return {OutcomeKind::timeout_in_group};
            case 2: return {OutcomeKind::incorrect_result};
            default: return {OutcomeKind::scored};
        }
    }

private:
    Random random_;
};

inline auto Sampler::requirement() -> Requirement {
    auto requirement = Requirement{vram()};
    for (const auto& gpu : names("GPU ")) {
        const auto at = std::find_if(requirement.gpus.begin(), requirement.gpus.end(),
                                     [&](const GpuChoice& choice) { return choice.name >= gpu; });
        if (at == requirement.gpus.end() || at->name != gpu) {
            requirement.gpus.insert(at, GpuChoice{gpu, once_in(2) ? Gibibytes{} : vram()});
        }
    }
    for (const auto& platform : names("platform ")) {
        const auto at = std::lower_bound(requirement.platforms.begin(), requirement.platforms.end(), platform);
        if (at == requirement.platforms.end() || *at != platform) { requirement.platforms.insert(at, platform); }
    }
    if (once_in(2)) { requirement.software = software(); }
    return requirement;
}

}  // namespace laws

}}  // namespace allot::v0
