#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <allot/allot.hpp>

namespace support { namespace oracle {

/// One place of a frame: its node, the model of the frame under which it is listed, and its length.
struct Place {
    allot::NodeHandle node{};
    std::uint32_t model = 0;
    std::uint32_t bound = 0;
};

struct Pick {
    allot::NodeHandle node{};
    std::uint32_t rejections = 0;
    bool scanned = false;
};

/// How a draw tries: `SamplingFrame` says the same of its fields.
struct Tries {
    std::uint32_t rejections_max = 32;
    std::uint32_t tries_max = 160;
    std::vector<allot::NodeHandle> without{};
};

/// The draw as rule 12 tells it, place after place. `weigh(place)` is the weight in units of 2^-92; a bound is in
/// units of 2^-28.
///
/// Rejection sampling: draw a point below the sum of the lengths, take the first place whose prefix sum exceeds it.
/// Accept it with probability weight / length: if the point is in the first `weight` of the place. A place is as long
/// as its bound; the point has 28 bits behind the binary point, and if they do not decide, another 64 are drawn. Nodes
/// left out have no length. From a number of rejections on a rejected place is as long as its weight. Once any place
/// is shorter than its bound, a point has all 92 bits. After a number of tries the draw is undecided; of rules version
/// 1 a scan decides. Without bounds (no rejections) it decides at once.
template <class Weigh>
[[nodiscard]] auto pick(const std::vector<Place>& places, Weigh weigh, allot::Random& words, const Tries& tries = {})
    -> std::optional<Pick> {
    auto lengths = std::vector<allot::u128>{};
    auto coarse = true;
    for (const auto& place : places) {
        const auto out = std::find(tries.without.begin(), tries.without.end(), place.node) != tries.without.end();
        coarse = coarse && !out;
        lengths.push_back(out ? allot::u128{0} : allot::u128{place.bound} << 64);
    }
    const auto scans = tries.tries_max == 0;
    const auto misses = scans || tries.rejections_max == 0 ? tries.rejections_max : tries.tries_max;
    for (auto miss = 0U; miss < misses; ++miss) {
        auto length = allot::u128{0};
        for (const auto& one : lengths) { length = length + one; }
        if (length == allot::u128{0}) { return std::nullopt; }
        auto point = coarse ? allot::u128{words.below((length >> 64).low())} << 64 : words.below(length);
        auto hit = std::size_t{0};
        for (; point >= lengths[hit]; ++hit) { point = point - lengths[hit]; }
        const auto weight = allot::u128{weigh(places[hit])};
        if (coarse && (weight >> 64) == (point >> 64)) { point = point + allot::u128{words.next()}; }
        if (point < weight) { return Pick{places[hit].node, miss, false}; }
        if (!scans && miss + 1 >= tries.rejections_max) {
            lengths[hit] = weight;
            coarse = false;
        }
    }
    if (!scans && tries.rejections_max > 0) { return Pick{allot::no_handle<allot::NodeHandle>, tries.tries_max}; }
    auto sum = allot::u128{0};
    for (const auto& place : places) { sum = sum + weigh(place); }
    if (sum == allot::u128{0}) { return std::nullopt; }
    const auto point = words.below(sum);
    auto prefix = allot::u128{0};
    for (const auto& place : places) {
        prefix = prefix + weigh(place);
        if (prefix > point) { return Pick{place.node, tries.rejections_max, true}; }
    }
    return std::nullopt;
}

/// The first complaint of a watching pool; empty if there is none. One for each thread is not needed.
inline auto complaint() -> std::string& {
    static auto text = std::string{};
    return text;
}

/// Counts the watched draws by their course.
struct Ways {
    std::uint64_t drawn = 0;
    std::uint64_t missed = 0;
    std::uint64_t shortened = 0;  // more than 32 rejections
    std::uint64_t nobody = 0;
    std::uint64_t narrowed = 0;
    std::uint64_t without = 0;  // began without some nodes
};
inline auto ways() -> Ways& {
    static auto counts = Ways{};
    return counts;
}

/// A frame's tries.
[[nodiscard]] inline auto tries_of(const allot::SamplingFrame& frame) -> Tries {
    auto tries = Tries{frame.rejections_max, frame.tries_max, {}};
    for (const auto& place : frame.without) { tries.without.push_back(place.node); }
    return tries;
}

/// A candidate pool that compares another one with an oracle and complains if they differ. At each draw it checks that
/// every weight is at most its bound and that no two candidates have one place.
template <class Inner>
class WatchedPool {
public:
    using role = allot::role::pool;
    static constexpr bool stores_bounds = true;

    void changed(const allot::NodePlace& before, const allot::NodePlace& after) {
        inner_.changed(before, after);
        entries_.erase(before.node);
        entries_.erase(after.node);
        if (after.bound > 0 || after.bound_local > 0) {
            entries_[after.node] = Entry{after, {after.models.begin(), after.models.end()}};
        }
    }

    template <class Weigh>
    [[nodiscard]] auto draw(const allot::SamplingFrame& frame, Weigh&& weigh, allot::Random& random) const
        -> std::optional<allot::Draw> {
        auto words = random;
        const auto line = places(frame);
        for (const auto& place : line) {
            const auto weight = allot::Weight{weigh(place.node, place.model)}.raw();
            if (frame.rejections_max > 0 && weight > (allot::u128{place.bound} << 64)) {
                complain(fmt::format("a weight exceeds its bound (node record {})", place.node.value));
            }
            const auto out = std::any_of(frame.without.begin(), frame.without.end(),
                                         [&](const allot::NodePlace& other) { return other.node == place.node; });
            if (out && weight > allot::u128{0}) {
                complain(fmt::format("a draw leaves out a node that may run the task ({})", place.node.value));
            }
        }
        const auto expected = pick(
            line, [&](const Place& place) { return allot::Weight{weigh(place.node, place.model)}.raw(); }, words,
            tries_of(frame));
        const auto drawn = inner_.draw(frame, weigh, random);
        if (drawn.has_value() != expected.has_value() || (drawn && drawn->node != expected->node)) {
            complain("the draw is not that of the oracle");
        } else if (drawn && (drawn->scanned != expected->scanned || drawn->rejections != expected->rejections)) {
            complain("the draw went another way than that of the oracle");
        } else if (!(words == random)) {
            complain("the draw used other words than that of the oracle");
        }
        if (inner_.count(frame) != line.size()) { complain("a pool counts other candidates than the oracle"); }
        auto& way = ways();
        ++(drawn ? way.drawn : way.nobody);
        way.missed += drawn && drawn->rejections > 0 ? 1U : 0U;
        way.shortened += drawn && drawn->rejections > frame.rejections_max ? 1U : 0U;
        way.narrowed += drawn && !frame.models.empty() ? 1U : 0U;
        way.without += frame.without.empty() ? 0U : 1U;
        return drawn;
    }

    [[nodiscard]] auto count(const allot::SamplingFrame& frame) const -> std::uint32_t { return inner_.count(frame); }
    [[nodiscard]] auto total(const allot::SamplingFrame& frame) const -> std::uint64_t {
        const auto line = places(frame);
        const auto sum = std::accumulate(line.begin(), line.end(), std::uint64_t{0},
                                         [](std::uint64_t all, const Place& place) { return all + place.bound; });
        if (inner_.total(frame) != sum) { complain("a pool sums other bounds than the oracle"); }
        return sum;
    }

    /// True if both have the same candidates with the same bounds at the same places.
    [[nodiscard]] auto same_places(const WatchedPool& other) const -> bool {
        return std::equal(
            entries_.begin(), entries_.end(), other.entries_.begin(), other.entries_.end(),
            [](const auto& a, const auto& b) {
                const auto facts = [](const Entry& e) {
                    return std::tuple{e.place.node_class, e.place.slot, e.place.bound, e.place.bound_local};
                };
                return a.first == b.first && facts(a.second) == facts(b.second) && a.second.models == b.second.models;
            });
    }

private:
    struct Entry {
        allot::NodePlace place;
        std::vector<allot::HeldModel> models;
    };

    static void complain(std::string what) {
        if (complaint().empty()) { complaint() = std::move(what); }
    }

    /// Returns the frame's places: candidates by (class, slot), or each model's holders by (class, place among them).
    [[nodiscard]] auto places(const allot::SamplingFrame& frame) const -> std::vector<Place> {
        using Order = std::tuple<std::uint32_t, allot::ClassId, std::uint32_t>;
        auto found = std::map<Order, Place>{};
        const auto put = [&](const Order& order, const Place& place) {
            if (place.bound > 0 && !found.emplace(order, place).second) {
                complain("two candidates stand at one place");
            }
        };
        for (const auto& [node, entry] : entries_) {
            const auto& at = entry.place;
            if (std::find(frame.classes.begin(), frame.classes.end(), at.node_class) == frame.classes.end()) {
                continue;
            }
            if (frame.models.empty()) { put({0, at.node_class, at.slot}, {node, 0, at.bound}); }
            for (auto i = 0U; i < frame.models.size(); ++i) {
                for (const auto& held : entry.models) {
                    if (held.model == frame.models[i] && held.holding != allot::Holding::wanted) {
                        put({i, at.node_class, held.place}, {node, i, at.bound_local});
                    }
                }
            }
        }
        auto line = std::vector<Place>{};
        for (const auto& [order, place] : found) { line.push_back(place); }
        return line;
    }

    Inner inner_;
    std::map<allot::NodeHandle, Entry> entries_;
};

// ---- a whole dispatch, from the records -----------------------------------------------------------------------------

/// Returns the nodes on which a new task must start, computed from the records alone: eligibility, weights, and draws.
/// None if it must wait. Uses no pool and no index.
/// @pre nothing is due; default weights.
template <class D>
[[nodiscard]] auto dispatch(const D& d, const allot::TaskSpec& spec, const allot::Entropy& entropy)
    -> std::vector<allot::NodeId> {
    const auto& state = d.state();
    if (spec.node) {
        const auto free = d.node(*spec.node)->node.state == allot::NodeState::available;
        return free ? std::vector{*spec.node} : std::vector<allot::NodeId>{};
    }
    const auto& rules = d.rules().parameters();
    auto models = spec.models;
    std::sort(models.begin(), models.end());
    models.erase(std::unique(models.begin(), models.end()), models.end());

    const auto fits = [&](const allot::NodeClass& has) {
        auto card = spec.gpus.empty() && has.vram >= spec.vram_min;
        for (const auto& choice : spec.gpus) {
            card = card || (choice.name == has.gpu &&
                            (choice.vram.count == 0 ? has.vram >= spec.vram_min : has.vram == choice.vram));
        }
        const auto platform = spec.platforms.empty() || std::find(spec.platforms.begin(), spec.platforms.end(),
                                                                  has.platform) != spec.platforms.end();
        const auto& no = spec.platforms_refused;
        auto alike = std::uint32_t{0};
        state.nodes().for_each([&](allot::NodeHandle, const auto& record) {
            const auto takes_part = record.node.present() && record.node.state != allot::NodeState::paused;
            alike += takes_part && state.fits().value(record.node.node_class) == has ? 1U : 0U;
        });
        return card && platform && std::find(no.begin(), no.end(), has.platform) == no.end() &&
               alike >= rules.class_nodes_min &&
               (!spec.software || (has.software.major == spec.software->major && !(has.software < *spec.software)));
    };
    struct Candidate {
        allot::NodeHandle handle;
        allot::ClassId node_class;
        std::uint32_t slot;
        std::vector<std::optional<std::uint32_t>> places;  // among the holders of each model
        allot::u128 weight;                                // for this task
        std::uint32_t bound;
        std::uint32_t bound_local;
        std::pair<std::string, std::uint32_t> card;
        allot::OperatorId operator_id;
    };
    // The largest stake, and the powers of two that bounds are made for.
    auto largest = allot::StakeRoot{};
    state.nodes().for_each([&](allot::NodeHandle, const auto& record) {
        if (record.node.state != allot::NodeState::left) {
            largest = std::max(largest, allot::StakeRoot::from(record.node.stake.units));
        }
    });
    const auto ceilings = state.counters().ceilings.following(largest);
    const auto eliminates = state.counters().rules_version >= 2;
    auto tries = Tries{32U << static_cast<unsigned>(eliminates ? std::min(ceilings.slack(), 6) : ceilings.slack()), 0};
    if (eliminates) { tries.tries_max = tries.rejections_max + 128; }
    auto candidates = std::vector<Candidate>{};
    state.nodes().for_each([&](allot::NodeHandle handle, const auto& record) {
        const auto& node = record.node;
        if (node.state != allot::NodeState::available || node.excluded || !fits(state.fits().value(node.node_class))) {
            return;
        }
        const auto& has = state.fits().value(node.node_class);
        const auto card = std::pair{has.gpu, has.vram.count};
        auto c = Candidate{handle, node.node_class, node.slot, {}, allot::u128{0}, 0, 0, card, node.operator_id()};
        // M = 1 + 0.7 * on disk / all + 0.3 * loaded / all, with the numbers of the rules
        auto tenths = std::uint64_t{rules.boost_unit} * models.size();
        for (const auto& name : models) {
            c.places.emplace_back();
            for (const auto& held : state.holdings(handle)) {
                if (state.models().name(held.model) == name && held.holding != allot::Holding::wanted) {
                    tenths += rules.boost_on_disk + (held.holding == allot::Holding::in_use ? rules.boost_in_use : 0U);
                    c.places.back() = held.place;
                }
            }
        }
        const auto root = allot::StakeRoot::from(node.stake.units);
        const auto qos = d.qos().score(record.qos, d.now());
        const auto most = rules.boost_unit + rules.boost_on_disk + rules.boost_in_use;
        const auto weight = models.empty()
                                ? allot::harmonic({root, largest, qos})
                                : allot::harmonic({root, largest, qos, tenths, rules.boost_unit * models.size()});
        if (!weight.is_zero()) { c.weight = allot::at_stake_root_ceiling(weight, largest, ceilings.unit).raw(); }
        auto refused = false;
        auto member = false;
        if (spec.group) {
            if (const auto g = state.groups().find(*spec.group)) {
                for (const auto& other : state.groups()[*g].members) {
                    member = member || other.node == node.id;
                    refused = refused || member || other.operator_id == node.operator_id();
                }
            }
        }
        if (refused) { c.weight = allot::u128{0}; }
        if (eliminates && member) { tries.without.push_back(handle); }
        const auto best = d.qos().score_max(record.qos);
        const auto ceiling =
            std::max(handle.value < ceilings.renewed ? ceilings.to : ceilings.from, allot::ceil_power_of_two(root));
        c.bound = allot::bound_of(allot::harmonic({root, ceiling, best}));
        c.bound_local = state.holdings(handle).empty() && state.wishes(handle).empty()
                            ? c.bound
                            : allot::bound_of(allot::harmonic({root, ceiling, best, most, rules.boost_unit}));
        c.bound = rules.narrowing == allot::Narrowing::all || rules.narrowing == allot::Narrowing::none ? c.bound_local
                                                                                                        : c.bound;
        candidates.push_back(std::move(c));
    });

    auto words = allot::Random{entropy, allot::Purpose::dispatch, spec.id.bytes(), 0};
    // Draws one node among these.
    const auto one_of = [&](const std::vector<Candidate>& among) -> std::optional<allot::NodeHandle> {
        const auto by_handle = [&](allot::NodeHandle h) -> const Candidate& {
            return *std::find_if(among.begin(), among.end(), [&](const Candidate& c) { return c.handle == h; });
        };
        // The holders of one model, in order.
        const auto holders = [&](std::uint32_t model) {
            auto line = std::vector<std::pair<std::pair<allot::ClassId, std::uint32_t>, Place>>{};
            for (const auto& c : among) {
                if (c.places[model] && c.bound_local > 0) {
                    line.push_back({{c.node_class, *c.places[model]}, {c.handle, model, c.bound_local}});
                }
            }
            std::sort(line.begin(), line.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
            auto places = std::vector<Place>{};
            for (const auto& [order, place] : line) { places.push_back(place); }
            return places;
        };
        if (!models.empty() && rules.narrowing != allot::Narrowing::none) {
            auto frame = std::vector<Place>{};
            if (rules.narrowing == allot::Narrowing::any) {
                for (auto i = 0U; i < models.size(); ++i) {
                    const auto more = holders(i);
                    frame.insert(frame.end(), more.begin(), more.end());
                }
            } else {
                auto rarest = 0U;
                for (auto i = 1U; i < models.size(); ++i) {
                    rarest = holders(i).size() < holders(rarest).size() ? i : rarest;
                }
                frame = holders(rarest);
            }
            const auto weigh = [&](const Place& place) {
                const auto& c = by_handle(place.node);
                auto counts = true;
                for (auto i = 0U; i < models.size(); ++i) {
                    if (rules.narrowing == allot::Narrowing::any) {
                        counts = counts && !(i < place.model && c.places[i]);  // it counts under the first it holds
                    } else {
                        counts = counts && c.places[i];
                    }
                }
                return counts ? c.weight : allot::u128{0};
            };
            if (const auto drawn = pick(frame, weigh, words, tries)) { return drawn->node; }
            if (rules.narrowing == allot::Narrowing::gate) { return std::nullopt; }
        }
        auto frame = std::vector<std::pair<std::pair<allot::ClassId, std::uint32_t>, Place>>{};
        for (const auto& c : among) { frame.push_back({{c.node_class, c.slot}, {c.handle, 0, c.bound}}); }
        std::sort(frame.begin(), frame.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        auto places = std::vector<Place>{};
        for (const auto& [order, place] : frame) {
            if (place.bound > 0) { places.push_back(place); }
        }
        const auto drawn = pick(
            places, [&](const Place& place) { return by_handle(place.node).weight; }, words, tries);
        return drawn ? std::optional{drawn->node} : std::nullopt;
    };

    // A gang: one node after the other. Nodes that conflict with the chosen ones have no weight. Of one card: again
    // from the start, without a card that turns out to have too few.
    const auto size = std::size_t{spec.gang_size};
    for (;;) {
        auto left = candidates;
        if (spec.same_card) {
            auto free = std::map<std::pair<std::string, std::uint32_t>, std::size_t>{};
            for (const auto& c : left) { free[c.card] += c.bound > 0 ? 1U : 0U; }
            std::erase_if(left, [&](const Candidate& c) { return free[c.card] < size; });
        }
        auto chosen = std::vector<allot::NodeId>{};
        auto card = std::optional<std::pair<std::string, std::uint32_t>>{};
        while (chosen.size() < size) {
            const auto places = std::count_if(left.begin(), left.end(), [](const Candidate& c) { return c.bound > 0; });
            if (!chosen.empty() && static_cast<std::size_t>(places) <= chosen.size()) {
                break;  // no candidate is left
            }
            const auto drawn = one_of(left);
            if (!drawn) { break; }
            const auto it =
                *std::find_if(left.begin(), left.end(), [&](const Candidate& c) { return c.handle == *drawn; });
            chosen.push_back(state.nodes()[*drawn].node.id);
            card = it.card;
            std::erase_if(left, [&](const Candidate& c) { return spec.same_card && c.card != it.card; });
            for (auto& c : left) {
                if (c.handle == it.handle || (spec.group && c.operator_id == it.operator_id)) {
                    c.weight = allot::u128{0};
                }
            }
        }
        if (chosen.size() == size) { return chosen; }
        if (!spec.same_card || !card) { return {}; }
        std::erase_if(candidates, [&](const Candidate& c) { return c.card == *card; });
    }
}

}}  // namespace support::oracle
