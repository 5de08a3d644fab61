#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

#include <allot/core/fields.hpp>
#include <allot/core/parameters.hpp>
#include <allot/core/task.hpp>
#include <allot/core/units.hpp>
#include <allot/policy/lease_terms.hpp>
#include <allot/policy/role.hpp>
#include <allot/terms/fixed_terms.hpp>
#include <allot/terms/terms_around.hpp>

namespace allot { inline namespace v0 {

/// Parameters of `Price`.
struct PriceParameters {
    Amount fee_per_second_min{};      ///< Least fee for each second that a lease reserves, once for each node. 0: none.
    Ratio withdrawn{1, 20};           ///< Part of its fee that a task forfeits at least when its owner cancels it.
    Ratio withdrawn_full = 1;         ///< Part that a waiting task forfeits while the queue, or the share of its
                                      ///< requirement, is full; in proportion less while there is room.
    std::uint32_t poisoned_from = 3;  ///< A task that this many nodes failed, or did not finish, forfeits its fee.

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {(fee_per_second_min.units >> 64) == u128{0}, "allot: Price: fee_per_second_min must be below 2^64"},
            {withdrawn.den >= 1 && withdrawn.num <= withdrawn.den,
             "allot: Price: withdrawn must be 0 to 1, over a denominator of at least 1"},
            {withdrawn_full.den >= 1 && withdrawn_full.num <= withdrawn_full.den,
             "allot: Price: withdrawn_full must be 0 to 1, over a denominator of at least 1"},
            {poisoned_from >= 2, "allot: Price: poisoned_from must be at least 2: one node may have lied"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const PriceParameters&, const PriceParameters&) noexcept -> bool = default;
};
ALLOT_FIELDS(PriceParameters, fee_per_second_min, withdrawn, withdrawn_full, poisoned_from)

/// The least fee of a task, and the part of it that its owner forfeits. `Priced` applies it.
class Price {
public:
    using role = role::terms;
    using Parameters = PriceParameters;

    constexpr Price() noexcept = default;
    /// Throws as `detail::sound` does if the parameters have a fault.
    constexpr explicit Price(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    /// The least fee of a task that reserves this time, rounded up.
    /// @pre `reserved` is in [0, 2^40 ms]: leases times nodes. @complexity O(1).
    [[nodiscard]] constexpr auto fee_min(Duration reserved) const noexcept -> Amount {
        const auto product = parameters_.fee_per_second_min.units * u128{static_cast<std::uint64_t>(reserved.count())};
        return (product + u128{999}) / std::uint64_t{1'000};
    }

    /// The part of a fee that its owner forfeits by cancelling a task that has reserved `held` of `length`, while this
    /// part of the room for waiting tasks is taken. The task waits if `held` is 0. In token units, rounded up.
    /// @pre the fee is admitted, `length` is positive, and `crowding` is 0 to 1.
    /// @complexity O(1).
    [[nodiscard]] constexpr auto cancelled(Amount fee, Duration held, Duration length, Ratio crowding) const noexcept
        -> Amount {
        const auto least =
            std::max(part(fee, parameters_.withdrawn), part(part(fee, parameters_.withdrawn_full), crowding));
        // Below 2^32, so that the product with a fee fits.
        while (length >= Duration{std::int64_t{1} << 32}) {
            length /= 2;
            held = held / 2 + held % 2;
        }
        const auto used = std::clamp(held, Duration{0}, length);
        return std::max(least, part(fee, Ratio{static_cast<std::uint32_t>(used.count()),
                                               static_cast<std::uint32_t>(length.count())}));
    }

    /// The parameters in force.
    [[nodiscard]] constexpr auto parameters() const noexcept -> const Parameters& { return parameters_; }
    /// Replaces the parameters. Throws as `detail::sound` does if they have a fault.
    constexpr void configure(const Parameters& parameters) { parameters_ = detail::sound(parameters); }

private:
    /// The part of a fee, at most all of it, rounded up.
    [[nodiscard]] static constexpr auto part(Amount fee, Ratio of) noexcept -> Amount {
        return (fee.units * u128{of.num} + u128{of.den - std::uint32_t{1}}) / std::uint64_t{of.den};
    }

    Parameters parameters_{};
};

/// Lease terms, and a price: a task costs a least fee, and one that is cancelled or poisoned does not get all of it
/// back.
///
/// Leases are as long as `Terms` says. A forfeit is told in the event that ends the task, and goes to the embedder: fee
/// = paid + refunded + forfeited.
///
/// | ending                                        | forfeited                                            |
/// | --------------------------------------------- | ---------------------------------------------------- |
/// | its owner cancels it while it waits           | a small part of the fee (`withdrawn`), or the part   |
/// |                                               | of the room for waiting tasks that is taken          |
/// |                                               | (`withdrawn_full`), if this is larger                |
/// | its owner cancels it while it runs            | the part of the lease that has passed, and the small |
/// |                                               | part at least                                        |
/// | `poisoned_from` nodes failed it or were late  | the whole fee: each of them had reserved a lease     |
/// | eviction, patience, slash, wrong result       | nothing                                              |
///
/// A place in a full queue is a place that another task lost: it was evicted, or came in vain. So an owner that
/// withdraws its task from a full queue forfeits the whole fee (`withdrawn_full`), from one that is a tenth full a
/// tenth.
///
/// **Law.** No statement pays its author. A node that reports a failure gets nothing, and neither does any other node:
/// no node is paid a forfeit. One node alone cannot make an owner forfeit anything.
template <lease_terms Terms = FixedTerms>
class Priced : public TermsAround<Terms, Price> {
public:
    static constexpr std::string_view name = "Priced";

    constexpr Priced() = default;
    constexpr explicit Priced(Terms terms, Price price = {})
        : TermsAround<Terms, Price>{std::move(terms), std::move(price)} {}

    /// The least fee of a task that reserves this time. @complexity O(1).
    [[nodiscard]] constexpr auto fee_min(Duration reserved) const noexcept -> Amount {
        return price().fee_min(reserved);
    }
    /// The part of its fee that a task forfeits if it ends so after `held` under its lease, while this part of the room
    /// for waiting tasks is taken. It waits if `held` is 0.
    /// @pre its strikes do not count this ending yet. @complexity O(1).
    [[nodiscard]] constexpr auto forfeit(const Task& task, Ending ending, Duration held, Ratio crowding) const
        -> Amount {
        if (ending == Ending::cancelled) {
            return price().cancelled(task.fee, held, std::max(Duration{1}, this->length(Node{}, task)), crowding);
        }
        // Where a task may start over on the node that failed it, one node can strike more than once; the nodes that
        // the task avoids differ.
        const auto nodes = std::min<std::size_t>(task.strikes, task.avoided().size()) + 1;
        const auto poisoned =
            (ending == Ending::failed || ending == Ending::timed_out) && nodes >= price().parameters().poisoned_from;
        return poisoned ? task.fee : Amount{};
    }

    /// The price.
    [[nodiscard]] constexpr auto price() const noexcept -> const Price& { return std::get<Price>(this->parts()); }
};

}}  // namespace allot::v0
