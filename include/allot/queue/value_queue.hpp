#pragma once

#include <utility>

#include <boost/container/small_vector.hpp>
#include <boost/multi_index/identity.hpp>
#include <boost/multi_index/ordered_index.hpp>
#include <boost/multi_index/tag.hpp>
#include <boost/multi_index_container.hpp>

#include <allot/policy/role.hpp>
#include <allot/policy/task_queue.hpp>
#include <allot/queue/value_queue_parameters.hpp>

namespace allot { inline namespace v0 {

/// The default queue: ordered by (group, value, submission), highest value first, bounded by α·N.
///
/// Groups are interned requirements: VRAM × GPU, with "any" GPU among them. The best task for a node is the best of the heads of
/// its groups; a head the node cannot take (avoided, or of its own validation group) is stepped over, so the answer is exact.
class ValueQueue {
public:
    using role = role::queue;
    using Parameters = ValueQueueParameters;

    ValueQueue() = default;
    explicit ValueQueue(const Parameters& parameters) : parameters_{parameters} {}

    /// @complexity O(log n).
    void push(const QueueEntry& entry) { entries_.insert(entry); }
    /// @complexity O(log n).
    void erase(const QueueEntry& entry) { entries_.template get<ByGroup>().erase(entry); }

    /// @complexity O(groups · log n), and O(groups) more for each head stepped over.
    template <class Fits>
    [[nodiscard]] auto best(std::span<const RequirementId> groups, Fits&& fits) const -> std::optional<TaskHandle> {
        const auto& index = entries_.template get<ByGroup>();
        auto heads = boost::container::small_vector<std::pair<GroupIterator, GroupIterator>, 32>{};
        for (const auto group : groups) {
            const auto range = index.equal_range(group, OfGroup{});
            if (range.first != range.second) {
                heads.push_back(range);
            }
        }
        while (!heads.empty()) {
            auto first = heads.begin();
            for (auto head = heads.begin(); head != heads.end(); ++head) {
                if (goes_before(*head->first, *first->first)) {
                    first = head;
                }
            }
            if (fits(first->first->task)) {
                return first->first->task;
            }
            if (++first->first == first->second) {
                *first = heads.back();
                heads.pop_back();
            }
        }
        return std::nullopt;
    }

    /// @complexity O(1).
    [[nodiscard]] auto worst() const -> std::optional<TaskHandle> {
        const auto& index = entries_.template get<ByValue>();
        return index.empty() ? std::nullopt : std::optional{index.rbegin()->task};
    }

    [[nodiscard]] auto size() const noexcept -> std::uint32_t { return static_cast<std::uint32_t>(entries_.size()); }
    [[nodiscard]] auto capacity(std::uint32_t nodes) const noexcept -> std::uint32_t { return parameters_.capacity(nodes); }

    [[nodiscard]] auto parameters() const noexcept -> const Parameters& { return parameters_; }
    void configure(const Parameters& parameters) noexcept { parameters_ = parameters; }

private:
    struct GroupThenValue {
        auto operator()(const QueueEntry& a, const QueueEntry& b) const noexcept -> bool {
            return a.group == b.group ? goes_before(a, b) : a.group < b.group;
        }
    };
    struct OfGroup {
        auto operator()(const QueueEntry& a, RequirementId b) const noexcept -> bool { return a.group < b; }
        auto operator()(RequirementId a, const QueueEntry& b) const noexcept -> bool { return a < b.group; }
    };
    struct ValueOrder {
        auto operator()(const QueueEntry& a, const QueueEntry& b) const noexcept -> bool { return goes_before(a, b); }
    };
    struct ByGroup {};
    struct ByValue {};
    using Whole = boost::multi_index::identity<QueueEntry>;
    using Entries = boost::multi_index_container<
        QueueEntry, boost::multi_index::indexed_by<
                        boost::multi_index::ordered_unique<boost::multi_index::tag<ByGroup>, Whole, GroupThenValue>,
                        boost::multi_index::ordered_unique<boost::multi_index::tag<ByValue>, Whole, ValueOrder>>>;
    using GroupIterator = Entries::index<ByGroup>::type::const_iterator;

    Entries entries_;
    Parameters parameters_{};
};

}}  // namespace allot::v0
