#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <allot/store/interner.hpp>

#include "support/catch.hpp"
#include "support/history.hpp"
#include "support/seed.hpp"

namespace {

/// A keyed hash, good enough for tests. Key 0 hashes everything to one place.
struct KeyedHash {
    std::uint64_t key = 1;

    auto operator()(const std::string& text) const -> std::uint64_t {
        auto hash = key;
        for (const auto character : text) {
            hash = (hash ^ static_cast<unsigned char>(character)) * 0x9E37'79B9'7F4A'7C15U * (key == 0 ? 0 : 1);
            hash ^= hash >> 29;
        }
        return hash;
    }
};

using Names = allot::Interner<std::string, KeyedHash>;

struct Entry {
    std::string value;
    std::uint32_t count = 0;

    friend auto operator==(const Entry&, const Entry&) -> bool = default;
};

using Model = std::map<std::uint32_t, Entry>;

auto name(std::uint32_t number) -> std::string { return "name " + std::to_string(number); }

auto contents(const Names& names) -> Model {
    auto all = Model{};
    auto last = std::optional<std::uint32_t>{};
    names.for_each([&](std::uint32_t id, const std::string& value) {
        REQUIRE((!last || *last < id));
        last = id;
        all[id] = {value, names.count(id)};
    });
    return all;
}

auto id_of(const Model& model, const std::string& value) -> std::optional<std::uint32_t> {
    for (const auto& [id, entry] : model) {
        if (entry.value == value) { return id; }
    }
    return std::nullopt;
}

/// Has no default, and may refuse to be copied.
struct Fragile {
    explicit Fragile(int with) : number{with} {}
    Fragile(const Fragile& other) : number{other.number} {
        if (number < 0) { throw std::runtime_error{"cannot be copied"}; }
    }
    Fragile(Fragile&&) noexcept = default;
    auto operator=(const Fragile&) -> Fragile& = default;
    auto operator=(Fragile&&) noexcept -> Fragile& = default;
    ~Fragile() = default;

    friend auto operator==(const Fragile& a, const Fragile& b) noexcept -> bool { return a.number == b.number; }

    int number;
};

struct FragileHash {
    auto operator()(const Fragile& value) const -> std::uint64_t {
        return static_cast<std::uint64_t>(value.number) << 40;
    }
};

}  // namespace

TEST_CASE("an empty interner knows nothing") {
    const auto names = Names{};
    CHECK(names.empty());
    CHECK(names.size() == 0);
    CHECK_FALSE(names.find("").has_value());
    CHECK_FALSE(names.contains(0));
    CHECK(names == Names{});
}

TEST_CASE("equal values share an id, and new ones get the lowest free id with count 0") {
    auto names = Names{};
    CHECK(names.intern("a") == 0);
    CHECK(names.intern("b") == 1);
    CHECK(names.intern("a") == 0);
    CHECK(names.intern("") == 2);
    CHECK(names.count(0) == 0);
    CHECK(names.size() == 3);
    CHECK(names.value(1) == "b");
    CHECK(names.find("b") == 1U);
    CHECK(names.erase_if_unused(0));
    CHECK_FALSE(names.find("a").has_value());
    CHECK_FALSE(names.contains(0));
    CHECK(names.intern("c") == 0);
    CHECK(names.intern("a") == 3);
}

TEST_CASE("a value stays while it is used and leaves only when told to") {
    auto names = Names{};
    const auto id = names.intern("a");
    names.acquire(id);
    names.acquire(id);
    CHECK(names.count(id) == 2);
    CHECK_FALSE(names.erase_if_unused(id));
    names.release(id);
    CHECK_FALSE(names.erase_if_unused(id));
    names.release(id);
    CHECK(names.count(id) == 0);
    CHECK(names.find("a") == id);
    CHECK(names.erase_if_unused(id));
    CHECK(names.empty());
    CHECK(names == Names{});
}

TEST_CASE("an interner does what a std::map does, whatever the key of the hash") {
    const auto key = GENERATE(std::uint64_t{0}, std::uint64_t{0xFEED'5EED});
    support::check_histories({5, 40, 120}, [key](const support::History& history) {
        auto names = Names{KeyedHash{key}};
        auto model = Model{};
        for (const auto& step : history) {
            const auto text = name(step.subject);
            const auto known = id_of(model, text);
            if (names.find(text) != known) { return false; }
            if (step.verb <= 1) {
                const auto id = names.intern(text);
                if (!known) {
                    auto lowest = std::uint32_t{0};
                    while (model.count(lowest) != 0) { ++lowest; }
                    if (id != lowest) { return false; }
                    model[id] = {text, 0};
                }
            } else if (step.verb == 2 && known) {
                names.acquire(*known);
                ++model[*known].count;
            } else if (step.verb == 3 && known) {
                if (names.erase_if_unused(*known) != (model[*known].count == 0)) { return false; }
                if (model[*known].count == 0) { model.erase(*known); }
            } else if (step.verb == 4) {
                if (known && model[*known].count > 0) {
                    names.release(*known);
                    --model[*known].count;
                } else if (!known && model.count(step.value) == 0) {
                    names.put(step.value, text);
                    model[step.value] = {text, 0};
                }
            }
            if (names.size() != model.size()) { return false; }
        }
        return contents(names) == model;
    });
}

TEST_CASE("an erased value can be put back at its id, and everything is as it was") {
    auto names = Names{};
    for (std::uint32_t i = 0; i < 300; ++i) { names.acquire(names.intern(name(i))); }
    names.release(77);
    const auto before = names;
    REQUIRE(names.erase_if_unused(77));
    CHECK_FALSE(names == before);
    CHECK(names.intern("newcomer") == 77);
    REQUIRE(names.erase_if_unused(77));
    names.put(77, name(77));
    CHECK(names == before);
    CHECK(names.find(name(77)) == 77U);
    CHECK(names.intern("newcomer") == 300);
}

TEST_CASE("interners are equal by ids, values and counts, not by the hash") {
    auto a = Names{KeyedHash{1}};
    auto b = Names{KeyedHash{2}};
    for (std::uint32_t i = 0; i < 100; ++i) {
        a.intern(name(i));
        b.intern(name(i));
    }
    CHECK(a == b);
    b.acquire(50);
    CHECK_FALSE(a == b);
    b.release(50);
    CHECK(a == b);
    REQUIRE(b.erase_if_unused(50));
    CHECK_FALSE(a == b);
    b.put(50, "another");
    CHECK_FALSE(a == b);
    REQUIRE(b.erase_if_unused(50));
    b.put(100, name(50));
    CHECK_FALSE(a == b);
    CHECK_FALSE(b == a);
}

TEST_CASE("70,000 values keep their addresses, and a copy is independent") {
    auto names = Names{};
    names.intern(name(0));
    const auto* const first = &names.value(0);
    for (std::uint32_t i = 1; i < 70'000; ++i) { REQUIRE(names.intern(name(i)) == i); }
    CHECK(&names.value(0) == first);
    auto copy = names;
    REQUIRE(copy.erase_if_unused(0));
    CHECK(names.value(0) == name(0));
    for (std::uint32_t i = 0; i < 70'000; ++i) { REQUIRE(names.find(name(i)) == i); }
    const auto moved = std::move(names);
    CHECK(&moved.value(0) == first);
}

TEST_CASE("a value that cannot be copied is not interned, and nothing changes") {
    auto values = allot::Interner<Fragile, FragileHash>{};
    CHECK(values.intern(Fragile{1}) == 0);
    const auto before = values;
    const auto bad = Fragile{-1};
    CHECK_THROWS_AS(values.intern(bad), std::runtime_error);
    CHECK(values == before);
    CHECK_FALSE(values.find(bad).has_value());
    CHECK(values.intern(Fragile{2}) == 1);
}

TEST_CASE("an interner gives back the room of high ids, and takes them again") {
    auto interner = allot::Interner<std::string, std::hash<std::string>>{};
    for (auto i = 0; i < 1'000; ++i) { (void)interner.intern("name " + std::to_string(i)); }
    CHECK_FALSE(interner.trim());  // nothing was erased
    for (std::uint32_t id = 10; id < 1'000; ++id) { REQUIRE(interner.erase_if_unused(id)); }
    const auto before = interner;
    CHECK(interner.trim() == 128);  // two pages of 64
    CHECK_FALSE(interner.trim());
    CHECK(interner == before);
    interner.put(999, "name 999");
    CHECK(interner.find(std::string{"name 999"}) == 999);
    CHECK(interner.value(9) == "name 9");
}
