#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// The entries of a row or a column of a `FitTable`: a view of its list, or a list made for this object.
///
/// It becomes a span only where it has a name, so that no span outlives it.
template <class Handle>
class FitList {
public:
    /// A view of a list, which has to outlive it.
    explicit FitList(std::span<const Handle> kept) noexcept : items_{kept} {}
    /// A list of its own.
    explicit FitList(std::vector<Handle>&& made) noexcept : made_{std::move(made)}, items_{made_} {}
    FitList(const FitList&) = delete;
    auto operator=(const FitList&) -> FitList& = delete;
    ~FitList() = default;

    operator std::span<const Handle>() const& noexcept { return items_; }  // NOLINT: meant to be implicit
    operator std::span<const Handle>() && = delete;                        // NOLINT: the same
    operator std::span<const Handle>() const&& = delete;                   // NOLINT: the same
    /// The list for longer than this object lives: the one that it views, or its own, moved to `room`.
    [[nodiscard]] auto kept_in(std::vector<Handle>& room) && -> std::span<const Handle> {
        if (made_.empty()) { return items_; }
        room = std::move(made_);
        return room;
    }

    [[nodiscard]] auto begin() const noexcept { return items_.begin(); }
    [[nodiscard]] auto end() const noexcept { return items_.end(); }
    [[nodiscard]] auto size() const noexcept -> std::size_t { return items_.size(); }
    [[nodiscard]] auto empty() const noexcept -> bool { return items_.empty(); }

private:
    std::vector<Handle> made_{};
    std::span<const Handle> items_;
};

}}  // namespace allot::v0
