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
    Ratio withdrawn{1, 20};           ///< Part of its payment that a task forfeits at least when its owner cancels it.
    Ratio withdrawn_full = 1;         ///< Part that a waiting task forfeits while the queue, or the share of its
                                      ///< requirement, is full; in proportion less while there is room.
    std::uint32_t poisoned_from = 3;  ///< A task that this many nodes failed, or did not finish, pays for their leases.
    Ratio paid = 1;                   ///< Part of its fee that the nodes of a task get if it is done. The rest is
                                      ///< returned then, and pays for leases that end in vain.
    std::uint32_t vain_full = 1;      ///< Payments that a lease costs which ends in vain while the queue, or the share
                                      ///< of its requirement, is full: one while all is empty, and linear between.

    /// The fault of the parameters as one sentence; null when they are valid together.
    [[nodiscard]] constexpr auto fault() const noexcept -> const char* {
        return detail::first_unmet({
            {(fee_per_second_min.units >> 64) == u128{0}, "allot: Price: fee_per_second_min must be below 2^64"},
            {withdrawn.den >= 1 && withdrawn.num <= withdrawn.den,
             "allot: Price: withdrawn must be 0 to 1, over a denominator of at least 1"},
            {withdrawn_full.den >= 1 && withdrawn_full.num <= withdrawn_full.den,
             "allot: Price: withdrawn_full must be 0 to 1, over a denominator of at least 1"},
            {poisoned_from >= 2, "allot: Price: poisoned_from must be at least 2: one node may have lied"},
            {paid.num >= 1 && paid.num <= paid.den, "allot: Price: paid must be above 0, and 1 at most"},
            {vain_full >= 1 && vain_full <= 65'536, "allot: Price: vain_full must be 1 to 65,536"},
        });
    }
    /// True if `fault()` is null.
    [[nodiscard]] constexpr auto valid() const noexcept -> bool { return fault() == nullptr; }
    friend constexpr auto operator==(const PriceParameters&, const PriceParameters&) noexcept -> bool = default;
};
ALLOT_FIELDS(PriceParameters, fee_per_second_min, withdrawn, withdrawn_full, poisoned_from, paid, vain_full)

/// The least fee of a task, and the part of it that its owner forfeits. `Priced` applies it.
class Price {
public:
    using role = role::terms;
    using Parameters = PriceParameters;

    constexpr Price() noexcept = default;
    /// Throws as `detail::sound` does if the parameters have a fault.
    constexpr explicit Price(const Parameters& parameters) : parameters_{detail::sound(parameters)} {}

    /// The least fee of a task that reserves this time, rounded up.
    /// @pre `reserved` is in [0, 2^60 ms]: the length of a lease times the nodes. @complexity O(1).
    [[nodiscard]] constexpr auto fee_min(Duration reserved) const noexcept -> Amount {
        const auto product = parameters_.fee_per_second_min.units * u128{static_cast<std::uint64_t>(reserved.count())};
        return (product + u128{999}) / std::uint64_t{1'000};
    }

    /// The payment: the part of the fee that the nodes of a task get if it is done, rounded up.
    /// @pre the fee is admitted. @complexity O(1).
    [[nodiscard]] constexpr auto paid(Amount fee) const noexcept -> Amount { return part(fee, parameters_.paid); }

    /// The cost of a lease that ends in vain, while this part of the room for waiting tasks is taken: one to
    /// `vain_full` payments, rounded up, and at most the fee.
    /// @pre the fee is admitted, and `crowding` is 0 to 1. @complexity O(1).
    [[nodiscard]] constexpr auto in_vain(Amount fee, Ratio crowding) const noexcept -> Amount {
        const auto payment = paid(fee);
        const auto more = part(payment, crowding).units * u128{parameters_.vain_full - std::uint32_t{1}};
        return std::min(fee, Amount{payment.units + more});
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
/// | its owner cancels it while it waits           | a small part of the payment (`withdrawn`), or the    |
/// |                                               | part of the room for waiting tasks that is taken     |
/// |                                               | (`withdrawn_full`), if this is larger                |
/// | its owner cancels it while it runs            | the part of the lease that has passed, and the small |
/// |                                               | part at least, of the cost of a lease in vain        |
/// | its owner cancels it after nodes failed it    | that, and a lease in vain for each of them           |
/// | `poisoned_from` nodes failed it or were late  | a lease in vain for each of them                     |
/// | eviction, patience, slash, wrong result       | nothing                                              |
///
/// The *payment* is the part of the fee that the nodes of a task get if it is done (`paid`); then the rest is returned.
/// Without a rest, three leases in vain cost as much as one that is paid. With one, the fee is the most that the task
/// may cost: with a third, each lease of a poisoned task costs a payment. A lease in vain takes a card from the tasks
/// that wait, and they are more in a full queue: there it costs `vain_full` payments.
///
/// A place in a full queue is a place that another task lost: it was evicted, or came in vain. So an owner that
/// withdraws its task from a full queue forfeits the whole payment (`withdrawn_full`), from one that is a tenth full a
/// tenth.
///
/// **Law.** No statement pays its author. A node that reports a failure gets nothing, and neither does any other node:
/// no node is paid a forfeit. One node alone cannot make an owner forfeit anything, unless the owner then cancels, or
/// the terms start a task over on the node that failed it.
template <lease_terms Terms = FixedTerms>
class Priced : public TermsAround<Terms, Price> {
    using Around = TermsAround<Terms, Price>;
    static_assert(!has_forfeit<Terms>, "allot: Priced: the terms inside have forfeits already; give one price");

public:
    static constexpr std::string_view name = "Priced";

    constexpr Priced() = default;
    constexpr explicit Priced(Terms terms, Price price = {}) : Around{std::move(terms), std::move(price)} {}

    /// The least fee of a task that reserves this time. @complexity O(1).
    [[nodiscard]] constexpr auto fee_min(Duration reserved) const -> Amount {
        if constexpr (has_fee_min<Terms>) { return std::max(price().fee_min(reserved), Around::fee_min(reserved)); }
        return price().fee_min(reserved);
    }
    /// The payment to the nodes of a task that is done. @complexity O(1).
    [[nodiscard]] constexpr auto paid(const Task& task) const -> Amount {
        if constexpr (has_paid<Terms>) { return std::min(price().paid(task.fee), Around::paid(task)); }
        return price().paid(task.fee);
    }
    /// The part of its fee that a task forfeits if it ends so after `held` under its lease, while this part of the room
    /// for waiting tasks is taken. It waits if `held` is 0.
    /// @pre its strikes do not count this ending yet. @complexity O(1).
    [[nodiscard]] constexpr auto forfeit(const Task& task, Ending ending, Duration held, Ratio crowding) const
        -> Amount {
        // Where a task may start over on the node that failed it, one node can strike more than once, but at most once
        // for each node that the task avoids: those that failed it elsewhere, or declined it.
        const auto failures = std::min<std::size_t>(task.strikes, task.avoided().size());
        const auto lease = price().in_vain(task.fee, crowding);
        if (ending == Ending::cancelled) {
            const auto length = std::max(Duration{1}, this->length(Node{}, task));
            const auto last = held == Duration{0} ? price().cancelled(paid(task), held, length, crowding)
                                                  : price().cancelled(lease, held, length, {});
            return capped(task.fee, lease.units * u128{failures} + last.units);
        }
        const auto poisoned = (ending == Ending::failed || ending == Ending::timed_out) &&
                              failures + 1 >= price().parameters().poisoned_from;
        return poisoned ? capped(task.fee, lease.units * u128{failures + 1}) : Amount{};
    }

    /// The price.
    [[nodiscard]] constexpr auto price() const noexcept -> const Price& { return std::get<Price>(this->parts()); }

private:
    static constexpr auto capped(Amount fee, u128 units) noexcept -> Amount { return std::min(fee, Amount{units}); }
};

}}  // namespace allot::v0
