#include <string>
#include <utility>

#include <allot/core/rare.hpp>

#include "support/catch.hpp"

using Word = allot::Rare<std::string>;

TEST_CASE("a rare value is there once it is made") {
    auto word = Word{};
    CHECK(word.find() == nullptr);
    word.made() = "here";
    REQUIRE(word.find() != nullptr);
    CHECK(*word.find() == "here");
    word.made() += " still";
    CHECK(*word.find() == "here still");
}

TEST_CASE("a rare value that says nothing equals one that was not made") {
    auto blank = Word{};
    blank.made();
    auto word = Word{};
    word.made() = "here";
    CHECK(blank == Word{});
    CHECK(Word{} == blank);
    CHECK(Word{} == Word{});
    CHECK(word != blank);
    CHECK(Word{} != word);
    CHECK(word == Word{word});
}

TEST_CASE("a copy of a rare value is another one, and a move takes it along") {
    auto word = Word{};
    word.made() = "here";
    const auto* const place = word.find();
    auto copy = word;
    copy.made() = "there";
    CHECK(*word.find() == "here");
    copy = word;
    CHECK(copy == word);
    auto moved = std::move(word);
    CHECK(moved.find() == place);
    moved = Word{};
    CHECK(moved.find() == nullptr);
    CHECK(Word{moved}.find() == nullptr);
}
