#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <allot/laws/sample.hpp>
#include <allot/store/fit_table.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

using allot::ClassId;
using allot::FitTable;
using allot::NodeClass;
using allot::Requirement;
using allot::RequirementId;

constexpr auto enough = [](const NodeClass& c, const Requirement& r) { return c.vram >= r.vram_min; };
auto card(std::uint32_t vram) -> NodeClass { return {"GPU", {vram}, "", {}}; }
auto least(std::uint32_t vram) -> Requirement { return {{vram}}; }
auto numbers(const auto& handles) -> std::vector<std::uint32_t> {
    auto values = std::vector<std::uint32_t>{};
    for (const auto h : handles) { values.push_back(h.value); }
    return values;
}
using Numbers = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("a table of fits has a bit for each pair, whichever came first") {
    auto table = FitTable{{1, 2}};
    table.add(ClassId{0}, card(16), enough);
    table.add(RequirementId{0}, least(8), enough);
    table.add(RequirementId{1}, least(24), enough);
    table.add(ClassId{1}, card(24), enough);
    CHECK(numbers(table.classes_of(RequirementId{0})) == Numbers{0, 1});
    CHECK(numbers(table.classes_of(RequirementId{1})) == Numbers{1});
    CHECK(numbers(table.requirements_of(ClassId{0})) == Numbers{0});
    CHECK(numbers(table.requirements_of(ClassId{1})) == Numbers{0, 1});
    CHECK(numbers(table.all_classes()) == Numbers{0, 1});
}

TEST_CASE("what nobody uses any more goes, and its bits with it") {
    auto table = FitTable{{1, 2}};
    table.add(ClassId{0}, card(16), enough);
    table.add(RequirementId{0}, least(8), enough);
    table.acquire(ClassId{0});
    CHECK_FALSE(table.erase_if_unused(ClassId{0}));
    table.release(ClassId{0});
    CHECK(table.count(ClassId{0}) == 0);
    CHECK(table.erase_if_unused(ClassId{0}));
    CHECK_FALSE(table.contains(ClassId{0}));
    CHECK(table.classes_of(RequirementId{0}).empty());
    CHECK(table.all_classes().empty());
    CHECK(table.next_class() == ClassId{0});
    table.add(ClassId{0}, card(4), enough);
    CHECK(table.requirements_of(ClassId{0}).empty());
    CHECK(table.erase_if_unused(RequirementId{0}));
    CHECK(table.next_requirement() == RequirementId{0});
}

TEST_CASE("another predicate is asked anew about every pair") {
    auto table = FitTable{{1, 2}};
    table.add(ClassId{0}, card(16), enough);
    table.add(ClassId{1}, card(24), enough);
    table.add(RequirementId{0}, least(20), enough);
    const auto always = [](std::uint32_t) { return true; };
    table.refit([](const NodeClass& c, const Requirement& r) { return c.vram < r.vram_min; }, always);
    CHECK(numbers(table.classes_of(RequirementId{0})) == Numbers{0});
    CHECK(numbers(table.requirements_of(ClassId{0})) == Numbers{0});
    CHECK(table.requirements_of(ClassId{1}).empty());
}

TEST_CASE("nothing fits a closed class until it is opened") {
    auto table = FitTable{{1, 2}};
    table.add(RequirementId{0}, least(8), enough);
    table.add(ClassId{0}, card(16), enough);
    table.add(ClassId{1}, card(24), enough, false);
    table.add(RequirementId{1}, least(20), enough);
    CHECK(numbers(table.classes_of(RequirementId{0})) == Numbers{0});
    CHECK(table.classes_of(RequirementId{1}).empty());
    CHECK(table.requirements_of(ClassId{1}).empty());
    CHECK(numbers(table.all_classes()) == Numbers{0, 1});
    table.set_open(ClassId{1}, true);
    table.set_open(ClassId{1}, true);
    CHECK(numbers(table.classes_of(RequirementId{0})) == Numbers{0, 1});
    CHECK(numbers(table.classes_of(RequirementId{1})) == Numbers{1});
    CHECK(numbers(table.requirements_of(ClassId{1})) == Numbers{0, 1});
    table.set_open(ClassId{0}, false);
    CHECK(numbers(table.classes_of(RequirementId{0})) == Numbers{1});
    table.add_active(ClassId{0});
    table.refit(enough, [](std::uint32_t active) { return active > 0; });
    CHECK(numbers(table.classes_of(RequirementId{0})) == Numbers{0});
    CHECK(table.classes_of(RequirementId{1}).empty());
    table.remove_active(ClassId{0});
    CHECK(table.active(ClassId{0}) == 0);
}

TEST_CASE("rows and columns agree after any history") {
    auto sampler = allot::laws::Sampler{support::seed()};
    auto table = FitTable{{3, 4}};
    for (auto step = 0; step < 500; ++step) {
        const auto c = sampler.node_class();
        const auto r = sampler.requirement();
        const auto class_known = table.classes().find(c);
        const auto requirement_known = table.requirements().find(r);
        if (!class_known) {
            table.add(table.next_class(), c, enough);
        } else if (sampler.once_in(2)) {
            (void)table.erase_if_unused(ClassId{*class_known});
        }
        if (!requirement_known) {
            table.add(table.next_requirement(), r, enough);
        } else {
            (void)table.erase_if_unused(RequirementId{*requirement_known});
        }
        if (class_known && table.contains(ClassId{*class_known})) {
            table.set_open(ClassId{*class_known}, sampler.once_in(2));
            if (sampler.once_in(4)) { table.list(ClassId{*class_known}); }
        }
        if (requirement_known && table.contains(RequirementId{*requirement_known}) && sampler.once_in(4)) {
            table.list(RequirementId{*requirement_known});
        }
        if (sampler.once_in(8)) { table.trim(); }
        if (sampler.once_in(50)) {
            table.refit(enough, [](std::uint32_t) { return true; });
        }
        if (!sampler.once_in(8)) { continue; }
        // Some lists catch up with a few changes, some are made anew after many, and some are made for the reader.
        table.classes().for_each([&](std::uint32_t id, const NodeClass&) {
            if (sampler.once_in(2)) { table.list(ClassId{id}); }
        });
        auto agrees = true;
        table.requirements().for_each([&](std::uint32_t id, const Requirement& requirement) {
            auto right = Numbers{};
            table.classes().for_each([&](std::uint32_t class_id, const NodeClass& node_class) {
                const auto fits = table.open(ClassId{class_id}) && enough(node_class, requirement);
                if (fits) { right.push_back(class_id); }
                const auto column = table.requirements_of(ClassId{class_id});
                const auto listed = std::find(column.begin(), column.end(), RequirementId{id}) != column.end();
                agrees = agrees && std::is_sorted(column.begin(), column.end());
                agrees = agrees && listed == fits && table.fit(ClassId{class_id}, RequirementId{id}) == fits;
            });
            agrees = agrees && numbers(table.classes_of(RequirementId{id})) == right;
            agrees = agrees && table.fits_any(RequirementId{id}) == !right.empty();
            agrees = agrees && !table.fit(allot::no_handle<ClassId>, RequirementId{id});
            const auto asked = std::vector<RequirementId>{{id}, {id}};
            auto told = std::array<Numbers, 2>{};
            table.each_fit(table.all_classes(), asked, [&](std::size_t i, ClassId fitting) {
                told[i].push_back(fitting.value);
                return i == 0;  // the second one hears of one class in each 64
            });
            auto firsts = right;
            const auto same = [](std::uint32_t a, std::uint32_t b) { return a / 64 == b / 64; };
            firsts.erase(std::unique(firsts.begin(), firsts.end(), same), firsts.end());
            agrees = agrees && told[0] == right && told[1] == firsts;
        });
        REQUIRE(agrees);
    }
}

TEST_CASE("a list that was made before a change is made anew, whoever asks for it") {
    auto table = FitTable{{1, 2}};
    for (std::uint32_t c = 0; c < 130; ++c) { table.add(ClassId{c}, card(8 + c), enough); }
    for (std::uint32_t r = 0; r < 130; ++r) { table.add(RequirementId{r}, least(8 + r), enough); }
    table.list(RequirementId{128});
    table.list(ClassId{1});
    CHECK(numbers(table.classes_of(RequirementId{128})) == Numbers{128, 129});
    CHECK(numbers(table.requirements_of(ClassId{1})) == Numbers{0, 1});
    table.set_open(ClassId{128}, false);
    (void)table.erase_if_unused(RequirementId{0});
    CHECK(numbers(table.classes_of(RequirementId{128})) == Numbers{129});
    CHECK(numbers(table.requirements_of(ClassId{1})) == Numbers{1});
    table.list(RequirementId{128});
    table.list(ClassId{1});
    const auto copy = table;
    CHECK(numbers(copy.classes_of(RequirementId{128})) == Numbers{129});
    CHECK(numbers(copy.requirements_of(ClassId{1})) == Numbers{1});
}

TEST_CASE("a list of requirements catches up with changes, and is made anew where it cannot") {
    auto table = FitTable{{1, 2}};
    table.add(ClassId{0}, card(100), enough);
    table.list(ClassId{0});  // there was no requirement yet
    CHECK(table.requirements_of(ClassId{0}).empty());
    for (std::uint32_t r = 0; r < 10; ++r) { table.add(RequirementId{r}, least(r), enough); }
    table.list(ClassId{0});
    table.refit([](const NodeClass&, const Requirement& r) { return r.vram_min.count < 3; },
                [](std::uint32_t) { return true; });
    table.list(ClassId{0});
    CHECK(numbers(table.requirements_of(ClassId{0})) == Numbers{0, 1, 2});
}

TEST_CASE("a list of requirements is right while pages of them are given back") {
    auto table = FitTable{{1, 2}};
    table.add(ClassId{0}, card(4'000), enough);
    const auto count = std::uint32_t{3'000};
    for (std::uint32_t r = 0; r < count; ++r) { table.add(RequirementId{r}, least(r), enough); }
    for (auto left = count; left > 0; --left) {
        if (left % 8 == 0) { table.list(ClassId{0}); }
        (void)table.erase_if_unused(RequirementId{left - 1});
        table.trim();
        if (left % 8 == 4) {
            table.list(ClassId{0});
            REQUIRE(table.requirements_of(ClassId{0}).size() == left - 1);
        }
    }
}

TEST_CASE("bits of what is gone are not those of what takes its id") {
    auto table = FitTable{{1, 2}};
    table.add(ClassId{0}, card(24), enough);
    table.add(RequirementId{0}, least(8), enough);
    (void)table.erase_if_unused(ClassId{0});
    CHECK_FALSE(table.fits_any(RequirementId{0}));
    table.add(ClassId{0}, card(4), enough);
    CHECK_FALSE(table.fit(ClassId{0}, RequirementId{0}));
    (void)table.erase_if_unused(RequirementId{0});
    table.add(RequirementId{0}, least(2), enough);
    CHECK(table.fit(ClassId{0}, RequirementId{0}));
    (void)table.erase_if_unused(RequirementId{0});
    table.add(ClassId{1}, card(16), enough);
    table.add(RequirementId{0}, least(9), enough);
    CHECK(numbers(table.classes_of(RequirementId{0})) == Numbers{1});
}

TEST_CASE("a list outlives the object that it was asked from") {
    auto table = FitTable{{1, 2}};
    table.add(ClassId{0}, card(24), enough);
    table.add(RequirementId{0}, least(8), enough);
    auto room = std::vector<RequirementId>{};
    CHECK(numbers(table.requirements_of(ClassId{0}).kept_in(room)) == Numbers{0});
    CHECK(room.size() == 1);  // it was made for this call
    room.clear();
    table.list(ClassId{0});
    CHECK(numbers(table.requirements_of(ClassId{0}).kept_in(room)) == Numbers{0});
    CHECK(room.empty());
}

TEST_CASE("hashes of names tell neighbours apart, and need the key") {
    const auto hash = allot::RequirementHash{{1, 2}};
    auto a = Requirement{{8}, {{"ab", {}}}};
    auto b = Requirement{{8}, {{"a", {}}}, {"b"}};
    CHECK(hash(a) != hash(b));
    CHECK(hash(a) != allot::RequirementHash{{1, 3}}(a));
    b = a;
    b.software = allot::SoftwareVersion{};
    CHECK(hash(a) != hash(b));
    a.platforms = b.platforms_refused = {"x"};
    b.software.reset();
    CHECK(hash(a) != hash(b));
    CHECK(allot::NodeClassHash{{1, 2}}({"ab", {8}, "c", {}}) != allot::NodeClassHash{{1, 2}}({"a", {8}, "bc", {}}));
    CHECK(allot::NameHash{{1, 2}}("a") != allot::NameHash{{1, 2}}("b"));
}

TEST_CASE("a class knows its nodes by slot, and a requirement how many of its tasks run", "[A6]") {
    auto table = FitTable{{1, 2}};
    table.add(ClassId{0}, card(16), enough);
    table.add(RequirementId{0}, least(8), enough);
    table.reserve(ClassId{0}, 2);
    table.take(ClassId{0}, 2, allot::NodeHandle{7});
    table.take(ClassId{0}, 0, allot::NodeHandle{9});
    table.take(ClassId{0}, 1, allot::NodeHandle{8});
    table.free(ClassId{0}, 1);
    auto nodes = Numbers{};
    table.each_node(ClassId{0}, [&](allot::NodeHandle n) { nodes.push_back(n.value); });
    CHECK(nodes == Numbers{9, 7});
    table.add_staying(RequirementId{0});
    table.add_staying(RequirementId{0});
    table.remove_staying(RequirementId{0});
    const auto copy = table;
    CHECK(copy.staying(RequirementId{0}) == 1);
    table.refit(enough, [](std::uint32_t) { return true; });
    CHECK(table.staying(RequirementId{0}) == 1);
}

TEST_CASE("classes of one GPU and VRAM have the same card, whatever their platforms") {
    auto table = FitTable{{1, 2}};
    table.add(ClassId{0}, {"GPU", {16}, "", {}}, enough);
    table.add(ClassId{1}, {"GPU", {16}, "linux", {1, 2, 3}}, enough);
    table.add(ClassId{2}, {"GPU", {24}, "", {}}, enough);
    table.add(ClassId{3}, {"gpu", {16}, "", {}}, enough);
    CHECK(table.same_card(ClassId{0}, ClassId{0}));
    CHECK(table.same_card(ClassId{0}, ClassId{1}));
    CHECK_FALSE(table.same_card(ClassId{0}, ClassId{2}));
    CHECK_FALSE(table.same_card(ClassId{0}, ClassId{3}));
    CHECK(table.card_hash(ClassId{0}) == table.card_hash(ClassId{1}));
    auto other = FitTable{{3, 4}};
    other.add(ClassId{0}, {"GPU", {16}, "", {}}, enough);
    CHECK(other.card_hash(ClassId{0}) != table.card_hash(ClassId{0}));
}

namespace {

/// Fits a card that a requirement lists, and counts how often it was asked.
struct CountsListed {
    static constexpr bool listed_cards_only = true;
    std::uint32_t& asked;

    auto operator()(const NodeClass& c, const Requirement& r) const -> bool {
        ++asked;
        return r.gpus.empty() ||
               std::any_of(r.gpus.begin(), r.gpus.end(), [&](const auto& choice) { return choice.name == c.gpu; });
    }
};

}  // namespace

TEST_CASE("where listed cards alone fit, few pairs of others are asked about, also at ids that are used again",
          "[A5]") {
    auto asked = std::uint32_t{0};
    const auto fits = CountsListed{asked};
    auto table = FitTable{{1, 2}};
    const auto listing = [](std::uint32_t number) {
        auto requirement = Requirement{};
        requirement.gpus = {{"card " + std::to_string(number), {}}};
        return requirement;
    };
    for (std::uint32_t i = 0; i < 200; ++i) { table.add(RequirementId{i}, listing(i), fits); }
    table.add(RequirementId{200}, Requirement{}, fits);
    table.add(ClassId{0}, {.gpu = "card 7"}, fits);
    CHECK(asked < 40);
    CHECK(table.fit(ClassId{0}, RequirementId{7}));
    CHECK(table.fit(ClassId{0}, RequirementId{200}));
    CHECK_FALSE(table.fit(ClassId{0}, RequirementId{8}));
    // The same ids for another card: the bits are those of the new values.
    REQUIRE(table.erase_if_unused(ClassId{0}));
    table.add(ClassId{0}, {.gpu = "card 8"}, fits);
    CHECK(table.fit(ClassId{0}, RequirementId{8}));
    CHECK_FALSE(table.fit(ClassId{0}, RequirementId{7}));
    REQUIRE(table.erase_if_unused(RequirementId{8}));
    table.add(RequirementId{8}, listing(1'000), fits);
    CHECK_FALSE(table.fit(ClassId{0}, RequirementId{8}));
    asked = 0;
    for (std::uint32_t i = 201; i < 401; ++i) { table.add(RequirementId{i}, listing(i), fits); }
    CHECK(asked < 40);
    table.refit(fits, [](std::uint32_t) { return true; });
    CHECK(table.fit(ClassId{0}, RequirementId{200}));
    CHECK(asked < 80);
}
