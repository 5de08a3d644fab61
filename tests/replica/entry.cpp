#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include <boost/mp11/algorithm.hpp>

#include <allot/core/command.hpp>
#include <allot/core/command_fields.hpp>
#include <allot/dispatcher/rules.hpp>
#include <allot/replica/entry.hpp>

#include "support/catch.hpp"

namespace entry_test {
namespace {

namespace body = allot::entry;
namespace command = allot::command;
using Command = allot::basic_command<std::variant<allot::RulesParameters>>;
using Entry = allot::Entry<Command>;
using Request = allot::Request<Command>;
using Bytes = std::vector<std::uint8_t>;

auto request(std::uint64_t seq) -> Request { return {"session", seq, {command::Pause{7}, command::Match{}}, {9, 8}}; }

auto entries() -> std::vector<Entry> {
    const auto time = allot::TimePoint{allot::Duration{1'234}};
    return {
        {1, 2, time, body::Requests<Command>{{request(1), request(2)}}},
        {1, 3, time, body::Tick{4, allot::Hash256{5}}},
        {1, 4, time, body::Attest{{1, 64, allot::Hash256{1}, allot::Hash256{2}}}},
        {1, 5, time, body::Attest{{1, 64, allot::Hash256{1}, {}}}},
        {1, 6, time, body::Parameters{1, {}}},
        {1, 7, time, body::Register{"session", "client", time}},
        {1, 8, time, body::Operator<Command>{2, {command::Postpone{allot::Duration{5}}, command::Advance{}}}},
        {1, 9, time, body::ChainHead{1, allot::Hash256{3}}},
    };
}

}  // namespace

TEST_CASE("an entry comes back from its bytes, of every kind") {
    auto kind = std::size_t{0};
    for (const auto& entry : entries()) {
        const auto bytes = allot::encode_entry(entry);
        const auto again = allot::decode_entry<Command>(bytes);
        REQUIRE(again);
        CHECK(again->body.index() == entry.body.index());
        CHECK(allot::encode_entry(*again) == bytes);
        kind = std::max(kind, entry.body.index());
    }
    CHECK(kind + 1 == std::variant_size_v<Entry::Body>);
}

TEST_CASE("the bytes of an entry are version, proposer, nonce, time, kind, body") {
    const auto bytes = allot::encode_entry(
        Entry{0x0102'0304, 5, allot::TimePoint{allot::Duration{-1}}, body::Tick{6, allot::Hash256{0xAA, 0xBB}}});
    auto expected = Bytes{1, 4, 3, 2, 1, 5, 0, 0, 0, 0, 0, 0, 0};
    expected.insert(expected.end(), 8, 0xFF);
    expected.insert(expected.end(), {1, 6, 0, 0, 0, 0, 0, 0, 0, 0xAA, 0xBB});
    expected.insert(expected.end(), 30, 0);
    CHECK(bytes == expected);
}

TEST_CASE("a truncated, lengthened or newer entry is a typed fault, and a changed one is its own only form") {
    for (const auto& entry : entries()) {
        const auto bytes = allot::encode_entry(entry);
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            const auto cut = allot::decode_entry<Command>(std::span{bytes}.first(size));
            REQUIRE_FALSE(cut);
            REQUIRE((cut.error().error == allot::DecodeError::truncated ||
                     cut.error().error == allot::DecodeError::count_too_large ||
                     cut.error().error == allot::DecodeError::version_unknown));
        }
        for (std::size_t at = 0; at < bytes.size(); ++at) {
            for (auto bit = 0U; bit < 8; ++bit) {
                auto flipped = bytes;
                flipped[at] ^= static_cast<std::uint8_t>(1U << bit);
                if (const auto other = allot::decode_entry<Command>(flipped)) {
                    REQUIRE(allot::encode_entry(*other) == flipped);
                }
            }
        }
        auto longer = bytes;
        longer.push_back(0);
        CHECK(allot::decode_entry<Command>(longer).error().error == allot::DecodeError::trailing_bytes);
        auto newer = bytes;
        ++newer[0];
        CHECK(allot::decode_entry<Command>(newer).error().error == allot::DecodeError::version_unknown);
        newer = bytes;
        newer[21] = std::variant_size_v<Entry::Body>;
        CHECK(allot::decode_entry<Command>(newer).error().error == allot::DecodeError::kind_unknown);
    }
}

TEST_CASE("a builder splices the bytes of requests into the entry that the encoder would write, again and again") {
    auto builder = allot::EntryBuilder{3};
    for (auto round = 0U; round < 3; ++round) {
        auto expected = Entry{3, round, allot::TimePoint{allot::Duration{round}}, {}};
        auto& requests = std::get<0>(expected.body).requests;
        for (auto i = 0U; i < round * 2; ++i) {
            requests.push_back(request(i));
            builder.add(allot::encode(requests.back()));
            CHECK(builder.count() == i + 1);
            CHECK(builder.bytes() > 0);
        }
        CHECK(builder.finish(round, expected.time) == allot::encode_entry(expected));
        CHECK(builder.count() == 0);
        CHECK(builder.bytes() == 0);
    }
}

TEST_CASE("to configure and to postpone are the operator's, all other commands are not") {
    auto count = 0;
    boost::mp11::mp_for_each<boost::mp11::mp_transform<std::type_identity, Command::Alternatives>>([&](auto type) {
        using C = typename decltype(type)::type;
        constexpr auto reserved = std::is_same_v<C, command::Postpone> ||
                                  std::is_same_v<C, command::Configure<std::variant<allot::RulesParameters>>>;
        CHECK(allot::is_operators(Command{allot::blank<C>()}) == reserved);
        count += reserved ? 1 : 0;
    });
    CHECK(count == 2);
}

TEST_CASE("parameters outside their ranges have a fault, and the default ones have none") {
    auto p = allot::ReplicaParameters{};
    CHECK(p.fault() == nullptr);
    const auto spoilt = [&](auto change) {
        auto other = p;
        change(other);
        return other.fault() != nullptr;
    };
    CHECK(spoilt([](auto& o) { o.replicas = 0; }));
    CHECK(spoilt([](auto& o) { o.replicas = 65; }));
    CHECK(spoilt([](auto& o) { o.attested_max = 0; }));
    CHECK(spoilt([](auto& o) { o.commands_max = 0; }));
    CHECK(spoilt([](auto& o) { o.sessions_max = 0; }));
    CHECK(spoilt([](auto& o) { o.sessions_per_client_max = o.sessions_max + 1; }));
    CHECK(spoilt([](auto& o) { o.session_ttl = {}; }));
    CHECK(spoilt([](auto& o) { o.ahead_max = allot::Duration{-1}; }));
    CHECK(spoilt([](auto& o) { o.gap_max = allot::Duration::max(); }));
    CHECK(spoilt([](auto& o) { o.outage_max = allot::Duration{std::int64_t{1} << 32}; }));
    CHECK(spoilt([](auto& o) { o.leaders_max = 0; }));
    CHECK(spoilt([](auto& o) { o.head_delay = allot::Duration{-1}; }));
}

}  // namespace entry_test
