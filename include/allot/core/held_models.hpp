#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include <allot/assert.hpp>
#include <allot/core/handle.hpp>
#include <allot/core/list.hpp>
#include <allot/core/time.hpp>

namespace allot { inline namespace v0 {

/// State of one model on one node.
enum class Holding : std::uint8_t {
    wanted,   ///< The node was asked to fetch it and has not reported it yet.
    on_disk,  ///< Downloaded.
    in_use,   ///< Downloaded and loaded in GPU memory.
};

/// One model that a node holds or was asked to fetch. `HeldModels` knows when it expires.
struct HeldModel {
    static constexpr auto place_max = (std::uint32_t{1} << 30U) - 1U;  ///< Far above the number of nodes that may join.

    ModelId model{};
    Holding holding : 2 = Holding::on_disk;
    std::uint32_t place : 30 = 0;  ///< Index among the model's holders of the same class; meaningful when on
                                   ///< disk.

    constexpr HeldModel() noexcept = default;
    constexpr HeldModel(ModelId m, Holding h, std::uint32_t p) noexcept : model{m}, holding{h}, place{p & place_max} {}

    [[nodiscard]] auto on_disk() const noexcept -> bool { return holding != Holding::wanted; }

    friend auto operator==(const HeldModel&, const HeldModel&) -> bool = default;
};
static_assert(sizeof(HeldModel) == 8 && std::is_trivially_copyable_v<HeldModel>, "a node has many of these");

/// Models of one node, ascending by model, and the times at which they expire.
///
/// A request expires by itself, and so does a holding if the placement says so (rule 51). Most holdings do not, and a
/// list in which none does has no room for times: it takes 8 bytes, and 8 for each entry. With times it takes 16 for
/// each entry. All is one block of memory: the counts, the entries, the times.
///
/// Entries are read by iterators, which are pointers, and changed by index. An algorithm that moved entries would
/// leave their times where they were. If an allocation throws, nothing changes.
/// @complexity linear in the entries to copy; all else O(1), more only where stated.
class HeldModels {
public:
    using value_type = HeldModel;
    using const_iterator = const HeldModel*;

    HeldModels() noexcept = default;
    /// So many entries `HeldModel{}`, of which none expires.
    /// @param timed Makes room for their times, so that `set_until` does not allocate.
    /// @pre `count` is below 2^31. This is asserted.
    explicit HeldModels(std::size_t count, bool timed = false) {
        if (count == 0) { return; }
        ALLOT_ASSERT(count <= Counts::max, "HeldModels: its counts have 31 bits");
        const auto bytes = sizeof(Counts) + count * (sizeof(HeldModel) + (timed ? sizeof(TimePoint) : 0));
        const auto room = static_cast<std::uint32_t>(count);
        block_ = ::new (::operator new(bytes)) Counts{room, room & Counts::max, timed ? 1U : 0U};
        std::uninitialized_value_construct_n(entries(), count);
        if (timed) { std::uninitialized_value_construct_n(times(), count); }
    }
    /// Entries that do not expire.
    HeldModels(std::initializer_list<HeldModel> models) : HeldModels(models.size()) {
        std::copy(models.begin(), models.end(), entries());
    }
    /// A copy has no room to spare, and none for times if nothing expires.
    HeldModels(const HeldModels& other) : HeldModels(other.size(), other.any_expires()) {
        std::copy(other.begin(), other.end(), entries());
        if (timed()) { std::copy_n(other.times(), size(), times()); }
    }
    HeldModels(HeldModels&& other) noexcept : block_{std::exchange(other.block_, nullptr)} {}
    auto operator=(HeldModels other) noexcept -> HeldModels& {
        std::swap(block_, other.block_);
        return *this;
    }
    ~HeldModels() { ::operator delete(block_); }

    [[nodiscard]] auto size() const noexcept -> std::size_t { return block_ == nullptr ? 0 : block_->size; }
    [[nodiscard]] auto empty() const noexcept -> bool { return size() == 0; }
    [[nodiscard]] auto data() const noexcept -> const HeldModel* { return entries(); }
    [[nodiscard]] auto begin() const noexcept -> const HeldModel* { return entries(); }
    [[nodiscard]] auto end() const noexcept -> const HeldModel* { return entries() + size(); }
    /// @pre `i < size()`.
    [[nodiscard]] auto operator[](std::size_t i) noexcept -> HeldModel& { return entries()[i]; }
    [[nodiscard]] auto operator[](std::size_t i) const noexcept -> const HeldModel& { return entries()[i]; }

    /// The time at which an entry expires; 0 if it does not.
    /// @pre `at` points to an entry of this list.
    [[nodiscard]] auto until(const_iterator at) const noexcept -> TimePoint {
        ALLOT_ASSERT(begin() <= at && at < end(), "HeldModels::until: an entry of this list");
        return timed() ? times()[at - begin()] : TimePoint{};
    }
    /// True if an entry expires by itself. @pre as for `until`.
    [[nodiscard]] auto expires(const_iterator at) const noexcept -> bool { return until(at) != TimePoint{}; }
    /// True if an entry of the list expires.
    /// @complexity linear in the entries of a list with room for times, else O(1).
    [[nodiscard]] auto any_expires() const noexcept -> bool {
        return timed() && std::any_of(times(), times() + size(), [](TimePoint time) { return time != TimePoint{}; });
    }
    /// Sets the time at which an entry expires; 0 stands for never. The first time makes the room for all.
    /// @pre `i < size()`.
    /// @complexity linear where it makes room.
    void set_until(std::size_t i, TimePoint time) {
        if (!timed()) {
            if (time == TimePoint{}) { return; }
            auto with_times = HeldModels(size(), true);
            std::copy(begin(), end(), with_times.entries());
            std::swap(block_, with_times.block_);
        }
        times()[i] = time;
    }

    /// Adds an entry before `at`.
    /// @complexity linear.
    void insert(const_iterator at, const HeldModel& model, TimePoint until = {}) {
        const auto place = at - begin();
        auto longer = HeldModels(size() + 1, timed() || until != TimePoint{});
        std::copy(at, end(), std::copy(begin(), at, longer.entries()) + 1);
        longer.entries()[place] = model;
        if (timed()) { std::copy(times() + place, times() + size(), std::copy_n(times(), place, longer.times()) + 1); }
        if (longer.timed()) { longer.times()[place] = until; }
        std::swap(block_, longer.block_);
    }
    /// Removes each entry for which `f(at)` is true. It asks once for each, in order, and keeps the room.
    /// @pre `f` reads this list only at `at`.
    /// @complexity linear.
    template <class F>
    void erase_if(F&& f) {
        auto kept = std::size_t{0};
        for (std::size_t i = 0; i < size(); ++i) {
            if (f(begin() + i)) { continue; }
            entries()[kept] = entries()[i];
            if (timed()) { times()[kept] = times()[i]; }
            ++kept;
        }
        if (kept < size()) { block_->size = static_cast<std::uint32_t>(kept); }
    }
    /// Gives back the room of entries that are gone, and that of the times if nothing expires any more.
    /// @complexity linear in the entries if there may be such room.
    void trim() {
        if (block_ != nullptr && (block_->size < block_->room || (timed() && !any_expires()))) {
            *this = HeldModels{*this};
        }
    }

    /// Equal entries with equal times; room does not matter.
    friend auto operator==(const HeldModels& a, const HeldModels& b) noexcept -> bool {
        if (!std::equal(a.begin(), a.end(), b.begin(), b.end())) { return false; }
        if (!a.timed() || !b.timed()) { return a.any_expires() == b.any_expires(); }
        return std::equal(a.times(), a.times() + a.size(), b.times());
    }

private:
    struct alignas(TimePoint) Counts {
        static constexpr std::uint32_t max = 0x7FFF'FFFF;

        std::uint32_t size;
        std::uint32_t room : 31;
        std::uint32_t timed : 1;  // the times stand behind the room for entries
    };

    [[nodiscard]] auto timed() const noexcept -> bool { return block_ != nullptr && block_->timed != 0; }
    [[nodiscard]] auto entries() const noexcept -> HeldModel* {
        return block_ == nullptr ? nullptr : reinterpret_cast<HeldModel*>(block_ + 1);
    }
    /// @pre the list is timed.
    [[nodiscard]] auto times() const noexcept -> TimePoint* {
        return reinterpret_cast<TimePoint*>(entries() + block_->room);
    }

    Counts* block_ = nullptr;  // null while there is no room
};

/// Two lists as one. Of a model that both have, it has both entries, that of the first before the other.
/// @complexity linear in both.
[[nodiscard]] inline auto merged(const HeldModels& a, const HeldModels& b) -> HeldModels {
    auto all = HeldModels(a.size() + b.size(), a.any_expires() || b.any_expires());
    const auto* from_a = a.begin();
    const auto* from_b = b.begin();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto is_next = [&] { return from_b->model < from_a->model; };
        const auto takes_b = from_a == a.end() || (from_b != b.end() && is_next());
        all[i] = takes_b ? *from_b : *from_a;
        all.set_until(i, takes_b ? b.until(from_b++) : a.until(from_a++));
    }
    return all;
}

/// Calls `f(was, is)` for each model whose entries in two lists differ, ascending. Null stands for no entry; times make
/// no difference.
/// @complexity linear in both lists. Equal stretches take about a nanosecond for each entry.
template <class F>
void each_difference(std::span<const HeldModel> before, std::span<const HeldModel> after, F&& f) {
    const auto* was = before.data();
    const auto* is = after.data();
    const auto* const was_end = was + before.size();
    const auto* const is_end = is + after.size();
    while (was != was_end || is != is_end) {
        if (is == is_end || (was != was_end && was->model < is->model)) {
            f(was++, nullptr);
        } else if (was == was_end || is->model < was->model) {
            f(nullptr, is++);
        } else {
            if (!(*was == *is)) { f(was, is); }
            ++was, ++is;
        }
    }
}

/// Where a model stands in the list, or would stand. @complexity O(log n) for n models.
[[nodiscard]] inline auto place_of(const HeldModels& held, ModelId model) -> const HeldModel* {
    return std::lower_bound(held.begin(), held.end(), model, [](const HeldModel& a, ModelId b) { return a.model < b; });
}

/// The entry of a model in the list, or null. @complexity O(log n) for n models.
[[nodiscard]] inline auto find_model(const HeldModels& held, ModelId model) -> const HeldModel* {
    const auto* at = place_of(held, model);
    return at != held.end() && at->model == model ? at : nullptr;
}

}}  // namespace allot::v0
