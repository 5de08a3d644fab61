#include <string>

#include <allot/store/name_hash.hpp>

#include "support/catch.hpp"

TEST_CASE("equal names have equal hashes under one key, and others under another") {
    const auto one = allot::NameHash{{1, 2}};
    const auto other = allot::NameHash{{1, 3}};
    CHECK(one("RTX 4090") == one(std::string{"RTX 4090"}));
    CHECK(one("RTX 4090") != one("RTX 4091"));
    CHECK(one("RTX 4090") != other("RTX 4090"));
}

TEST_CASE("the length of a text is part of its hash, so that two texts are not taken for two others") {
    const auto both = [](const char* a, const char* b) {
        auto hasher = allot::SipHash13{allot::SipKey{1, 2}};
        allot::hash_text(hasher, a);
        allot::hash_text(hasher, b);
        return hasher.finish();
    };
    CHECK(both("ab", "c") != both("a", "bc"));
    CHECK(both("", "abc") != both("abc", ""));
}
