#include "money.hpp"

#include <fmt/format.h>

namespace simulate {

auto Account::operator+=(const Account& other) -> Account& {
    earned += other.earned;
    spent += other.spent;
    to_others += other.to_others;
    forfeited += other.forfeited;
    slashed += other.slashed;
    held += other.held;
    return *this;
}

void Money::add_node(std::uint32_t operator_index, bool attacker) { nodes_.push_back({{}, operator_index, attacker}); }
void Money::add_owner(bool attacker) { owners_.push_back({{}, 0, attacker}); }

void Money::post(std::int64_t& field, std::int64_t amount, int sign) {
    field += amount;
    sum_ += sign * amount;
}

void Money::charge(std::uint32_t task, std::uint32_t owner, std::int64_t fee) {
    if (task >= held_.size()) { held_.resize(task + std::size_t{1}); }
    auto& held = held_[task];
    if (held.fee >= 0) { throw MoneyError{fmt::format("task {} is charged twice", task)}; }
    held = {owner, fee};
    post(owners_.at(owner).account.held, fee, -1);
    post(held_sum_, fee, 1);
    check();
}

void Money::settle(std::uint32_t task, std::span<const std::uint32_t> nodes, std::int64_t paid, std::int64_t refunded,
                   std::int64_t forfeited) {
    if (task >= held_.size() || held_[task].fee < 0) {
        throw MoneyError{fmt::format("task {} ends, but no fee is held for it", task)};
    }
    if (paid < 0 || refunded < 0 || forfeited < 0 || (paid > 0 && nodes.empty())) {
        throw MoneyError{fmt::format("task {}: {} paid to {} nodes, {} refunded, {} forfeited", task, paid,
                                     nodes.size(), refunded, forfeited)};
    }
    auto& held = held_[task];
    auto& owner = owners_.at(held.owner);
    post(owner.account.held, -held.fee, -1);
    held.fee = -1;
    post(held_sum_, -(paid + refunded + forfeited), 1);  // so the sum is zero only if they are the fee
    post(owner.account.spent, paid, -1);
    post(owner.account.forfeited, forfeited, -1);
    post(lost_, forfeited, 1);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const auto count = static_cast<std::int64_t>(nodes.size());
        const auto part = paid / count + (i == 0 ? paid % count : 0);
        auto& node = nodes_.at(nodes[i]);
        post(node.account.earned, part, 1);
        if (node.attacker != owner.attacker) { owner.account.to_others += part; }
    }
    check();
}

void Money::slash(std::uint32_t node, std::int64_t stake) {
    post(nodes_.at(node).account.slashed, stake, -1);
    post(lost_, stake, 1);
    check();
}

auto Money::operator_of(std::uint32_t index) const -> Account {
    auto sum = Account{};
    for (const auto& node : nodes_) {
        if (node.operator_index == index) { sum += node.account; }
    }
    return sum;
}

auto Money::side(bool attacker) const -> Account {
    auto sum = Account{};
    for (const auto* parties : {&owners_, &nodes_}) {
        for (const auto& party : *parties) {
            if (party.attacker == attacker) { sum += party.account; }
        }
    }
    return sum;
}

void Money::check() const {
    if (sum_ != 0) { throw MoneyError{fmt::format("the sum of all accounts is {}, not 0", sum_)}; }
}

void Money::audit() const {
    auto sum = side(false);
    sum += side(true);
    auto held = std::int64_t{0};
    for (const auto& one : held_) { held += one.fee > 0 ? one.fee : 0; }
    if (sum.profit() + lost_ != 0 || sum.held != held || held != held_sum_ || sum.spent != sum.earned) {
        throw MoneyError{fmt::format("{} earned, {} spent, {} forfeited, {} slashed, {} lost, {} of {} held",
                                     sum.earned, sum.spent, sum.forfeited, sum.slashed, lost_, sum.held, held)};
    }
}

}  // namespace simulate
