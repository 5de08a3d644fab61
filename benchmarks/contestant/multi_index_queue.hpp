#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <tuple>

#include <boost/multi_index/composite_key.hpp>
#include <boost/multi_index/hashed_index.hpp>
#include <boost/multi_index/member.hpp>
#include <boost/multi_index/ordered_index.hpp>
#include <boost/multi_index_container.hpp>

#include <allot/policy/task_queue.hpp>

#include "workload/waiting.hpp"

namespace bench {

/// The queue as most people would declare it: tasks by handle, by (group, value, submission) and by (value,
/// submission), and a `lower_bound` for each group that fits.
class MultiIndexQueue {
public:
    void push(const allot::QueueEntry& entry) {
        entries_.insert({entry.task.value, entry.group.value, entry.value, entry.sequence});
    }
    void erase(const allot::QueueEntry& entry) { entries_.get<0>().erase(entry.task.value); }

    /// Over the groups that fit a node, whatever they are numbered.
    template <class Groups>
    auto best_of(const Groups& fitting) -> std::optional<std::uint32_t> {
        const auto& index = entries_.get<1>();
        const Entry* first = nullptr;
        for (const std::uint32_t group : fitting) {
            const auto head = index.lower_bound(std::make_tuple(group));
            if (head != index.end() && head->group == group && (first == nullptr || before(*head, *first))) {
                first = &*head;
            }
        }
        return first == nullptr ? std::nullopt : std::optional{first->task};
    }
    auto best(std::uint32_t row, std::uint32_t card) -> std::optional<std::uint32_t> {
        auto fitting = std::array<std::uint32_t, 2 * rows>{};
        for (std::uint32_t r = 0; r <= row; ++r) {
            fitting[2 * r] = group_of(r, card).value;
            fitting[2 * r + 1] = group_of(r, any_card).value;
        }
        return best_of(std::span{fitting}.first(2 * (row + 1)));
    }
    auto worst() -> std::optional<std::uint32_t> {
        return entries_.empty() ? std::nullopt : std::optional{std::prev(entries_.get<2>().end())->task};
    }
    [[nodiscard]] auto size() const -> std::size_t { return entries_.size(); }

private:
    struct Entry {
        std::uint32_t task;
        std::uint32_t group;
        allot::Value value;
        std::uint64_t sequence;
    };
    static auto before(const Entry& a, const Entry& b) -> bool {
        const auto order = a.value <=> b.value;
        return order == 0 ? a.sequence < b.sequence : order > 0;
    }
    struct Higher {
        auto operator()(const allot::Value& a, const allot::Value& b) const -> bool { return a > b; }
    };
    template <class... Keys>
    using Key = boost::multi_index::composite_key<Entry, Keys...>;
    template <class T, T Entry::*Member>
    using Of = boost::multi_index::member<Entry, T, Member>;
    using ByValue = Of<allot::Value, &Entry::value>;
    using BySequence = Of<std::uint64_t, &Entry::sequence>;

    boost::multi_index_container<
        Entry,
        boost::multi_index::indexed_by<
            boost::multi_index::hashed_unique<Of<std::uint32_t, &Entry::task>>,
            boost::multi_index::ordered_unique<
                Key<Of<std::uint32_t, &Entry::group>, ByValue, BySequence>,
                boost::multi_index::composite_key_compare<std::less<std::uint32_t>, Higher, std::less<std::uint64_t>>>,
            boost::multi_index::ordered_unique<
                Key<ByValue, BySequence>, boost::multi_index::composite_key_compare<Higher, std::less<std::uint64_t>>>>>
        entries_;
};

}  // namespace bench
