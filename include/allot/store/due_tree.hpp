#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <allot/assert.hpp>
#include <allot/store/column.hpp>
#include <allot/store/due_line.hpp>
#include <allot/store/prefetch.hpp>

namespace allot { inline namespace v0 {

/// An entry that falls due: its time (milliseconds), its kind (a small number of the owner's choice), and its handle.
struct Due {
    std::int64_t time = 0;
    std::uint8_t kind = 0;
    std::uint32_t handle = 0;

    [[nodiscard]] friend auto operator==(const Due&, const Due&) noexcept -> bool = default;
};

/// The entry that falls due next, with at most one entry for each (kind, handle).
///
/// It is a tournament for each kind. The times lie by handle, eleven in a line of the cache (`DueLine`), with the
/// number of the first of them. The first entry of each line plays against those of ten other lines, and so on up. Most
/// entries are neither before nor after their change the first of their line, and then the change reads one line.
///
/// A 4-ary heap has to keep the place of each entry, too. It reads 6 cold lines more for a pair of commands with a
/// million waiting tasks, and 1.9 with none. Against lines of seven whole times a change of it took 1.2 to 1.8 times as
/// long. To take the first entry out was faster: by a fifth of a microsecond, and by one to two when a million fall due
/// at one moment. A timer wheel needed eleven levels for 64-bit times. Here the next deadline is exact, needs no notion
/// of now, and entries of equal time have the owner's order.
///
/// Each call that may compare takes that order as `ties(const Due& a, const Due& b) -> bool`: "a comes before b",
/// called only when the times are equal. It reads ids in the owner's records, and a tree with a pointer to them could
/// not be copied. With a strict total order the result of `top` depends on the contents alone, never on the history.
/// It may have `ties.fetch(const Due&)`, which prefetches the id of an entry, and `ties.hint(const Due&)`, a byte that
/// does not fall in this order, such as the first of the id. Hints lie by the times: where they differ, no id is read,
/// which saves 1.2 cold lines a pair where a million tasks fall due at one moment.
/// @pre of every such call: `ties` is a strict total order of the entries, does not change while they stay, and does
/// not throw.
template <unsigned kinds>
class DueTree {
    static_assert(kinds >= 1 && kinds <= 256,
                  "allot::DueTree: `kinds` counts the kinds of due work, from 1 to 256, for example DueTree<3>.");

    static constexpr std::uint32_t fan_out = detail::due_fan_out;
    using Line = detail::DueLine;

public:
    /// The time of an entry that is not there.
    static constexpr auto absent = Line::absent;
    /// The entries that the first one plays against last.
    using Finalists = std::array<Due, std::size_t{2} * fan_out>;

    /// Adds `due`, or moves the entry of the same kind and handle to its time. If an allocation throws, nothing
    /// changes.
    /// @pre `due.kind < kinds`, and `due.time != absent`.
    /// @complexity O(log11 n), usually O(1).
    template <class Ties>
    auto set(const Due& due, const Ties& ties) -> void {
        reserve(due.kind, due.handle);
        put(due, ties);
    }

    /// The same, where there is room. Does not throw.
    /// @pre `reserve` was called for the entry, or it was there, and no `trim` since.
    /// @complexity as `set`.
    template <class Ties>
    auto put(const Due& due, const Ties& ties) -> void {
        ALLOT_ASSERT(due.kind < kinds, "DueTree::put: no such kind");
        ALLOT_ASSERT(due.time != absent, "DueTree::put: an entry is due at some time");
        auto& line = trees_[due.kind].lines.at(due.handle / fan_out);
        const auto own = due.handle % fan_out;
        const auto more = line.has(own) ? 0U : 1U;
        size_ += more;
        trees_[due.kind].size += more;
        line.write(own, due.time, wide_);
        if constexpr (requires { ties.hint(due); }) { line.hints[own] = ties.hint(due); }
        play(due.kind, due.handle, ties);
    }

    /// Makes room, so that `set` of this kind and handle does not allocate, or of `more` handles that end with this.
    /// @pre `kind < kinds`, and `0 < more <= handle + 1`.
    /// @complexity O(1) where there is room, else O(more).
    auto reserve(std::uint8_t kind, std::uint32_t handle, std::uint32_t more = 1) -> void {
        ALLOT_ASSERT(kind < kinds, "DueTree::reserve: no such kind");
        // Mostly there is room, and this is called for each change.
        if (more > 1 || trees_[kind].lines.find(handle / fan_out) == nullptr) { make_room(kind, handle, more); }
        reserve();
    }

    /// The same for the next change of an entry that is there: to another time, or to none. It may make lines wide.
    /// @complexity amortised O(1).
    auto reserve() -> void {
        if (!wide_.has_room()) { wide_.make_room(); }
    }

    /// Gives back the room of a kind's handles from `handles` on. Changes no result.
    /// @pre no entry of these handles is there.
    /// @complexity amortised O(1) for each handle that is gone.
    auto trim(std::uint8_t kind, std::uint32_t handles) noexcept -> void {
        // A page that stays needs all of its lines above.
        auto count = (handles / fan_out | (page_lines - 1)) + 1;
        trees_[kind].lines.trim(count);
        for (auto& level : trees_[kind].upper) { level.trim(count = count / fan_out + 1); }
        wide_.trim();
    }

    /// Removes the entry of `kind` and `handle`; returns true if there was one. It allocates nothing after `reserve`,
    /// and without it only where times are 49 days apart.
    /// @complexity O(log11 n), usually O(1).
    template <class Ties>
    auto erase(std::uint8_t kind, std::uint32_t handle, const Ties& ties) -> bool {
        if (!contains(kind, handle)) { return false; }
        trees_[kind].lines.at(handle / fan_out).write(handle % fan_out, absent, wide_);
        --size_;
        --trees_[kind].size;
        play(kind, handle, ties);
        return true;
    }

    /// True if there is an entry of `kind` and `handle`.
    /// @complexity O(1).
    [[nodiscard]] auto contains(std::uint8_t kind, std::uint32_t handle) const noexcept -> bool {
        return time_of(kind, handle) != absent;
    }

    /// Prefetches the place of an entry, if there is one. Changes nothing.
    auto prefetch(std::uint8_t kind, std::uint32_t handle) const noexcept -> void {
        if (const auto* const line = trees_[kind].lines.find(handle / fan_out)) { allot::prefetch(*line); }
    }

    /// The entry of `kind` and `handle`, if there is one.
    /// @complexity O(1).
    [[nodiscard]] auto find(std::uint8_t kind, std::uint32_t handle) const noexcept -> std::optional<Due> {
        const auto time = time_of(kind, handle);
        return time == absent ? std::nullopt : std::optional{Due{time, kind, handle}};
    }

    /// The entry that falls due first, or null. The pointer holds until the next change.
    /// @complexity O(1).
    [[nodiscard]] auto top() const noexcept -> const Due* { return size_ == 0 ? nullptr : &first_; }

    /// True if there is a first entry, and another one of its kind.
    /// @complexity O(1).
    [[nodiscard]] auto has_second() const noexcept -> bool { return size_ > 0 && trees_[first_.kind].size > 1; }

    /// The first entry, and others of its kind in the two last lines where it has any: mostly one of them falls due
    /// next. Those that are not there have the time `absent`.
    /// @complexity O(log11 n).
    [[nodiscard]] auto finalists() const noexcept -> Finalists {
        auto all = Finalists{};
        all.fill(nothing);
        if (size_ == 0) { return all; }
        const auto& tree = trees_[first_.kind];
        const auto line_of = [&](std::size_t level) { return above(first_.handle / fan_out, level); };
        const auto is_alone = [&](std::size_t level) {
            const auto& offsets = tree.line(level, line_of(level)).offsets;
            return std::count(offsets.begin(), offsets.end(), Line::none) == std::ptrdiff_t{fan_out} - 1;
        };
        auto level = tree.upper.size();
        while (level > 0 && is_alone(level)) { --level; }
        for (auto i = 0U; i < all.size() && i < (level + 1) * fan_out; ++i) {
            const auto of = level - i / fan_out;
            all[i] = entry_of(first_.kind, of, line_of(of) * fan_out + i % fan_out);
        }
        return all;
    }

    /// Number of entries.
    [[nodiscard]] auto size() const noexcept -> std::uint32_t { return size_; }

    /// True if there is no entry.
    [[nodiscard]] auto empty() const noexcept -> bool { return size_ == 0; }

    /// Calls `f(due)` for each entry, by kind and then by handle, both ascending.
    /// @pre `f` does not change the tree.
    /// @complexity O(kinds * highest handle).
    template <class F>
    auto for_each(F&& f) const -> void {
        for (auto kind = 0U; kind < kinds; ++kind) {
            trees_[kind].lines.for_each([&](std::uint32_t number, const Line& line) {
                for (auto i = 0U; i < fan_out; ++i) {
                    const auto due = Due{line.time(i, wide_), static_cast<std::uint8_t>(kind), number * fan_out + i};
                    if (due.time != absent) { f(due); }
                }
            });
        }
    }

    /// True if both hold the same entries, in rooms of any size.
    /// @complexity O(kinds * highest handle).
    [[nodiscard]] friend auto operator==(const DueTree& a, const DueTree& b) noexcept -> bool {
        auto equal = a.size_ == b.size_;
        a.for_each([&](const Due& due) { equal = equal && b.time_of(due.kind, due.handle) == due.time; });
        return equal;
    }

private:
    static constexpr std::uint32_t page_lines = 256;
    static constexpr auto nothing = Due{absent, 0, ~std::uint32_t{0}};

    // At level 0 a line has the times by handle; above, the time of the first entry of each line of the level below.
    using Upper = Column<Line, 16>;  // small: a tree of a page of times has three of these levels
    struct Tree {
        Column<Line, page_lines> lines;
        std::vector<Upper> upper;  // the last has one line
        Due root = nothing;        // the first entry of all
        std::uint32_t size = 0;    // number of entries

        /// A line of a level; the times are level 0.
        [[nodiscard]] auto line(std::size_t level, std::uint32_t number) noexcept -> Line& {
            return level == 0 ? lines.at(number) : upper[level - 1].at(number);
        }
        [[nodiscard]] auto line(std::size_t level, std::uint32_t number) const noexcept -> const Line& {
            return level == 0 ? *lines.find(number) : *upper[level - 1].find(number);
        }
    };

    /// The entry of a time: the number of a time is that of the line below of which it is the first.
    [[nodiscard]] auto entry_of(std::uint8_t kind, std::size_t level, std::uint32_t number) const noexcept -> Due {
        const auto& tree = trees_[kind];
        const auto time = tree.line(level, number / fan_out).time(number % fan_out, wide_);
        if (time == absent) { return nothing; }
        for (; level > 0; --level) { number = number * fan_out + tree.line(level - 1, number).first; }
        return {time, kind, number};
    }

    [[nodiscard]] auto time_of(std::uint8_t kind, std::uint32_t handle) const noexcept -> std::int64_t {
        const auto* const line = kind < kinds ? trees_[kind].lines.find(handle / fan_out) : nullptr;
        return line == nullptr ? absent : line->time(handle % fan_out, wide_);
    }

    auto make_room(std::uint8_t kind, std::uint32_t handle, std::uint32_t more) -> void {
        auto& lines = trees_[kind].lines;
        auto& upper = trees_[kind].upper;
        // The last line and the first of their pages: the levels above count for all of these.
        const auto last = handle / fan_out | (page_lines - 1);
        const auto first = (handle - (more - 1)) / fan_out & ~(page_lines - 1);
        while (above(last, upper.size()) != 0) {
            auto top = Upper{};
            const auto* const former = upper.empty() ? lines.find(0) : upper.back().find(0);
            auto& line = top.made(0);
            if (former != nullptr) { copy_first(line, 0, *former); }
            upper.push_back(std::move(top));
        }
        // From the top down: if an allocation fails, no line is without the one above.
        for (auto level = upper.size(); level > 0; --level) {
            const auto end = above(last, level);
            upper[level - 1].reserve(end, end - above(first, level) + 1);
        }
        lines.reserve(last, last - first + 1);
    }

    /// Writes the first time of a line into one of the level above.
    void copy_first(Line& above, std::uint32_t number, const Line& line) {
        above.write(number, line.time(line.first, wide_), wide_);
        above.hints[number] = line.hints[line.first];
    }

    /// The line `levels` above a line.
    [[nodiscard]] static auto above(std::uint32_t line, std::size_t levels) noexcept -> std::uint32_t {
        for (; levels > 0; --levels) { line /= fan_out; }
        return line;
    }

    template <class Ties>
    [[nodiscard]] static auto before(const Due& a, const Due& b, const Ties& ties) -> bool {
        return a.time != b.time ? a.time < b.time : a.time != absent && static_cast<bool>(ties(a, b));
    }

    /// The number of the first time of a line.
    template <class Entry, class Ties>
    [[nodiscard]] static auto first_of(const Line& line, const Entry& entry, const Ties& ties) -> std::uint32_t {
        const auto& offsets = line.offsets;
        auto first = 0U;
        auto others = 0U;  // of the least time
        for (auto i = 1U; i < fan_out; ++i) {
            others = offsets[i] < offsets[first] ? 0 : others + (offsets[i] == offsets[first] ? 1U : 0U);
            first = offsets[i] < offsets[first] ? i : first;
        }
        return others == 0 || !line.has(first) ? first : first_of_least(line, first, entry, ties);
    }

    /// The same among times that are equal and the least, of which `first` is the lowest. The hints decide, and where
    /// they are equal the ids. These are prefetched: the owner's records are far from each other in memory, and the
    /// processor cannot guess the result of a comparison. One after another, each would wait for its own.
    template <class Entry, class Ties>
    [[nodiscard]] static auto first_of_least(const Line& line, std::uint32_t first, const Entry& entry,
                                             const Ties& ties) -> std::uint32_t {
        const auto least = line.offsets[first];
        for (auto i = first + 1; i < fan_out; ++i) {
            if (line.offsets[i] == least && line.hints[i] < line.hints[first]) { first = i; }
        }
        const auto hint = line.hints[first];
        const auto is_least = [&](std::uint32_t i) { return line.offsets[i] == least && line.hints[i] == hint; };
        auto others = 0U;
        for (auto i = first + 1; i < fan_out; ++i) { others += is_least(i) ? 1U : 0U; }
        if (others == 0) { return first; }
        auto entries = std::array<Due, fan_out>{};
        for (auto i = first; i < fan_out; ++i) {
            if (!is_least(i)) { continue; }
            entries[i] = entry(i);
            if constexpr (requires { ties.fetch(nothing); }) { ties.fetch(entries[i]); }
        }
        for (auto i = first + 1; i < fan_out; ++i) {
            if (is_least(i) && ties(entries[i], entries[first])) { first = i; }
        }
        return first;
    }

    /// True if a time goes before the first of its line, which it equals.
    template <class Entry, class Ties>
    [[nodiscard]] static auto goes_first(const Line& line, std::uint32_t own, const Entry& entry, const Ties& ties)
        -> bool {
        if (line.hints[own] != line.hints[line.first]) { return line.hints[own] < line.hints[line.first]; }
        return before(entry(own), entry(line.first), ties);
    }

    /// Repeats the matches of an entry of which the time was written, as far up as they may end otherwise.
    template <class Ties>
    auto play(std::uint8_t kind, std::uint32_t handle, const Ties& ties) -> void {
        auto& tree = trees_[kind];
        const auto levels = tree.upper.size() + 1;
        auto number = handle;
        for (std::size_t level = 0;; ++level) {
            const auto own = number % fan_out;
            number /= fan_out;
            auto& line = tree.line(level, number);
            const auto entry = [&](std::uint32_t i) { return entry_of(kind, level, number * fan_out + i); };
            if (line.first == own) {
                line.set_first(first_of(line, entry, ties));
            } else if (line.offsets[own] < line.offsets[line.first] ||
                       (line.offsets[own] == line.offsets[line.first] && goes_first(line, own, entry, ties))) {
                line.set_first(own);
            } else {
                return;
            }
            if (level + 1 == levels) { break; }
            copy_first(tree.line(level + 1, number / fan_out), number % fan_out, line);
        }
        tree.root = entry_of(kind, levels - 1, tree.line(levels - 1, 0).first);
        if (first_.kind != kind) {
            if (before(tree.root, first_, ties)) { first_ = tree.root; }
            return;
        }
        first_ = tree.root;
        for (const auto& other : trees_) {
            if (other.root != first_ && before(other.root, first_, ties)) { first_ = other.root; }
        }
    }

    std::array<Tree, kinds> trees_{};
    detail::WideTimes wide_;
    Due first_ = nothing;  // of all kinds
    std::uint32_t size_ = 0;
};

}}  // namespace allot::v0
