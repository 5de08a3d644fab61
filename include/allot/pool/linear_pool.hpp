#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <allot/policy/canonical_draw.hpp>
#include <allot/policy/role.hpp>

namespace allot { inline namespace v0 {

/// A candidate pool whose correctness is obvious: one list in (class, slot) order, searched linearly. It is the oracle
/// of `GpuGroupPool`, and the pool for weights that are not monotone.
///
/// @complexity linear in the number of candidates, for every function.
class LinearPool {
public:
    using role = role::pool;
    static constexpr std::string_view name = "CanonicalDraw";

    void changed(const NodePlace& before, const NodePlace& after) {
        std::erase_if(entries_,
                      [&](const Entry& entry) { return entry.node == before.node || entry.node == after.node; });
        if (after.bound == 0 && after.bound_local == 0) { return; }
        auto entry = Entry{after.node, after.node_class, after.slot, after.bound, after.bound_local, {}};
        for (const auto& held : after.models) {
            if (held.on_disk()) { entry.models.emplace_back(held.model, held.place); }
        }
        entries_.insert(std::lower_bound(entries_.begin(), entries_.end(), entry, by_slot), std::move(entry));
    }

    template <class Weigh>
    [[nodiscard]] auto draw(const SamplingFrame& frame, Weigh&& weigh, Random& random) const -> std::optional<Draw> {
        return canonical_draw(Line{framed(frame)}, frame, weigh, random);
    }

    [[nodiscard]] auto count(const SamplingFrame& frame) const -> std::uint32_t {
        return static_cast<std::uint32_t>(framed(frame).size());
    }

    [[nodiscard]] auto total(const SamplingFrame& frame) const -> std::uint64_t {
        return Line{framed(frame)}.total(frame);
    }

private:
    struct Entry {
        NodeHandle node;
        ClassId node_class;
        std::uint32_t slot;
        std::uint32_t bound;
        std::uint32_t bound_local;
        std::vector<std::pair<ModelId, std::uint32_t>> models;  // with the place among the holders
    };
    struct Place {
        NodeHandle node;
        std::uint32_t model;
        std::uint32_t bound;
    };

    /// The frame as a list of its places.
    struct Line {
        std::vector<Place> places;

        [[nodiscard]] auto total(const SamplingFrame&) const -> std::uint64_t {
            auto sum = std::uint64_t{0};
            for (const auto& place : places) { sum += place.bound; }
            return sum;
        }
        [[nodiscard]] auto locate(const SamplingFrame&, std::uint64_t point) const {
            struct Hit {
                NodeHandle node;
                std::uint32_t model;
                std::uint64_t offset;
                std::uint32_t bound;
            };
            for (const auto& place : places) {
                if (point < place.bound) { return Hit{place.node, place.model, point, place.bound}; }
                point -= place.bound;
            }
            return Hit{};
        }
        template <class F>
        void for_each(const SamplingFrame&, F&& f) const {
            for (const auto& place : places) { f(place.node, place.model, place.bound); }
        }
        template <class F>
        void each_place(const SamplingFrame&, const NodePlace& node, F&& f) const {
            auto begin = std::uint64_t{0};
            for (const auto& place : places) {
                if (place.node == node.node) { f(begin, place.bound); }
                begin += place.bound;
            }
        }
    };

    static auto by_slot(const Entry& a, const Entry& b) -> bool {
        return std::pair{a.node_class, a.slot} < std::pair{b.node_class, b.slot};
    }

    [[nodiscard]] auto framed(const SamplingFrame& frame) const -> std::vector<Place> {
        auto places = std::vector<Place>{};
        const auto fits = [&](const Entry& entry) {
            return std::find(frame.classes.begin(), frame.classes.end(), entry.node_class) != frame.classes.end();
        };
        if (frame.models.empty()) {
            for (const auto& entry : entries_) {
                if (entry.bound > 0 && fits(entry)) { places.push_back({entry.node, 0, entry.bound}); }
            }
        }
        for (std::uint32_t model = 0; model < frame.models.size(); ++model) {
            auto holders = std::vector<std::pair<std::pair<ClassId, std::uint32_t>, const Entry*>>{};
            for (const auto& entry : entries_) {
                for (const auto& [held, place] : entry.models) {
                    if (held == frame.models[model] && entry.bound_local > 0 && fits(entry)) {
                        holders.push_back({{entry.node_class, place}, &entry});
                    }
                }
            }
            std::sort(holders.begin(), holders.end());
            for (const auto& [order, entry] : holders) { places.push_back({entry->node, model, entry->bound_local}); }
        }
        return places;
    }

    std::vector<Entry> entries_;
};

}}  // namespace allot::v0
