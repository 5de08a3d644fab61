// Ids that strangers choose: insert and find through the table of records.

#include "workload/names.hpp"

#include <memory>
#include <vector>

#include "support/figures.hpp"
#include "support/offer.hpp"

namespace bench { namespace {

void figures(Figures& f) {
    auto turns = std::vector<Contestant>{
        {"random ids", Names::count, turn_of(std::make_shared<Names>(100'000, ChosenBy::chance, true))},
        {"ids chosen by an attacker, key kept secret", Names::count,
         turn_of(std::make_shared<Names>(100'000, ChosenBy::attacker, true))},
        {"ids chosen by an attacker who knows the key", f.quick ? Names::count / 30 : Names::count / 10,
         turn_of(std::make_shared<Names>(100'000, ChosenBy::attacker, false))}};
    f.measure("ids, insert + find", turns);
    f.at_most("ids: chosen by an attacker / random", ratio(turns[1], turns[0]), 1.5);
    f.told("ids: the same if the key were known", ratio(turns[2], turns[0]));
}

const auto subject = Subject{"5 names", figures};

const auto offered = [] {
    offer<Names>("names/random", {100'000}, Names::count, ChosenBy::chance, true);
    offer<Names>("names/chosen", {100'000}, Names::count, ChosenBy::attacker, true);
    return true;
}();

}}  // namespace bench
