#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <allot/core/units.hpp>

namespace simulate {

/// An amount of the library as a number: amounts are below 2^63 here.
[[nodiscard]] inline auto whole(allot::Amount amount) -> std::int64_t {
    return static_cast<std::int64_t>(amount.units.low());
}

/// The ledger does not balance.
class MoneyError : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

/// What came and went at one party.
struct Account {
    std::int64_t earned = 0;     ///< Fees of tasks that its nodes did.
    std::int64_t spent = 0;      ///< Fees that went to nodes for its own tasks.
    std::int64_t to_others = 0;  ///< That part of `spent` that went to nodes of the other side.
    std::int64_t forfeited = 0;  ///< Fees of its own tasks that nobody got back.
    std::int64_t slashed = 0;    ///< Stakes of its nodes that were taken.
    std::int64_t held = 0;       ///< Fees of its open tasks.

    /// What it has more than at the start, open tasks apart.
    [[nodiscard]] auto profit() const -> std::int64_t { return earned - spent - forfeited - slashed; }
    auto operator+=(const Account& other) -> Account&;
};

/// Fees from their owners to nodes, and stakes that are taken. The library tells amounts; the money is here.
///
/// Each fee is charged once, and then paid, refunded or forfeited to the last unit. After every call the sum of all
/// parties is compared with zero; a breach throws `MoneyError`.
class Money {
public:
    /// Who has a node, for the sums.
    void add_node(std::uint32_t operator_index, bool attacker);
    void add_owner(bool attacker);

    /// A task's fee leaves its owner and is held.
    void charge(std::uint32_t task, std::uint32_t owner, std::int64_t fee);
    /// A task's held fee is divided; `paid` goes to the nodes in equal parts, the remainder to the first. Throws
    /// `MoneyError` if nothing is held for the task, if a fee is not fully divided, or if no node is there to be paid.
    void settle(std::uint32_t task, std::span<const std::uint32_t> nodes, std::int64_t paid, std::int64_t refunded,
                std::int64_t forfeited);
    void slash(std::uint32_t node, std::int64_t stake);

    [[nodiscard]] auto owner(std::uint32_t index) const -> const Account& { return owners_.at(index).account; }
    [[nodiscard]] auto node(std::uint32_t index) const -> const Account& { return nodes_.at(index).account; }
    [[nodiscard]] auto operator_of(std::uint32_t index) const -> Account;
    [[nodiscard]] auto side(bool attacker) const -> Account;
    /// Fees that were forfeited and stakes that were taken; nobody of the network has them.
    [[nodiscard]] auto lost() const -> std::int64_t { return lost_; }

    /// Adds up every account again and compares. Throws `MoneyError`. @complexity linear in accounts and open tasks.
    void audit() const;

private:
    struct Party {
        Account account{};
        std::uint32_t operator_index = 0;
        bool attacker = false;
    };
    struct Held {
        std::uint32_t owner = 0;
        std::int64_t fee = -1;  ///< Negative: nothing is held.
    };

    /// Moves an amount into an account's field, or out of it; `sign` tells whether the party then has more.
    void post(std::int64_t& field, std::int64_t amount, int sign);
    void check() const;

    std::vector<Party> owners_{};
    std::vector<Party> nodes_{};
    std::vector<Held> held_{};  ///< By task.
    std::int64_t held_sum_ = 0;
    std::int64_t lost_ = 0;
    std::int64_t sum_ = 0;  ///< Of all parties, of what is held, and of what is lost: zero.
};

}  // namespace simulate
