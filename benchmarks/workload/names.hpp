#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <allot/core/handle.hpp>
#include <allot/core/id.hpp>
#include <allot/core/siphash.hpp>
#include <allot/dispatcher/rules.hpp>
#include <allot/store/table.hpp>

#include "support/chance.hpp"
#include "support/turns.hpp"

namespace bench {

enum class ChosenBy { chance, attacker };

/// Ids into the table of records, and found again; then (untimed) taken out. 100,000 others stand there all the time.
///
/// An attacker who knew the key could choose ids that all want the same places. This one believes that the embedder
/// kept the key that the library publishes, and so chose 30,000 ids within a 256th of the table.
class Names {
public:
    static constexpr std::size_t count = 30'000;

    Names(std::size_t others, ChosenBy by, bool key_is_secret)
        : table_{key_is_secret ? allot::SipKey{0x1234'5678'9ABC'DEF0U, 0x0FED'CBA9'8765'4321U} : published()} {
        auto chance = Chance{11};
        for (std::size_t i = 0; i < others; ++i) { put(static_cast<std::uint32_t>(i), allot::TaskId{chance.bytes()}); }
        others_ = static_cast<std::uint32_t>(others);
        while (ids_.size() < count) {
            const auto id = allot::TaskId{chance.bytes()};
            if (by == ChosenBy::chance || hash(id) >> 56U == 77) { ids_.push_back(id); }
        }
    }

    auto turn(std::size_t operations) -> double {
        auto watch = Stopwatch{};
        watch.start();
        for (std::uint32_t i = 0; i < operations; ++i) { put(others_ + i, ids_[i]); }
        for (std::uint32_t i = 0; i < operations; ++i) { keep(table_.find(ids_[i])); }
        watch.stop();
        for (std::uint32_t i = 0; i < operations; ++i) {
            auto record = std::optional<Record>{};
            table_.destroy(allot::TaskHandle{others_ + i}, record);
        }
        return watch.nanoseconds();
    }

private:
    struct Record {
        allot::TaskId id = allot::TaskId{0};
    };

    static auto published() -> allot::SipKey { return {allot::IdKey{}.k0, allot::IdKey{}.k1}; }
    static auto hash(const allot::TaskId& id) -> std::uint64_t {
        return allot::SipHasher<1, 3>{published()}.bytes(std::as_bytes(std::span{id.bytes()})).finish();
    }
    void put(std::uint32_t h, const allot::TaskId& id) { table_.create(allot::TaskHandle{h}, Record{id}); }

    allot::NamedTable<allot::TaskHandle, Record> table_;
    std::uint32_t others_ = 0;
    std::vector<allot::TaskId> ids_;
};

}  // namespace bench
