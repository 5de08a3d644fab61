#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <allot/store/stake_index.hpp>
#include <allot/store/table.hpp>

namespace support {

/// Stakes of nodes by slot, with the index that knows the largest. A stake of zero is that of no node.
class Stakes {
public:
    void reserve(std::uint32_t slot) { index_.reserve(slot); }
    void set(std::uint32_t slot, allot::Amount stake) {
        const auto h = allot::NodeHandle{slot};
        index_.reserve(slot);
        auto was = std::optional<Record>{};
        if (nodes_.contains(h)) { nodes_.destroy(h, was); }
        if (stake != allot::Amount{}) {
            auto record = Record{};
            record.node.staked(stake);
            record.node.state = allot::NodeState::available;
            nodes_.create(h, std::move(record));
        }
        index_.moved(nodes_, h, was ? &*was : nullptr, nodes_.find_record(h));
    }
    /// Gives back the room that the index has for the slots from `slots` on, none of which has a stake.
    void trim(std::uint32_t slots) { index_.trim(slots); }
    [[nodiscard]] auto root_max() const -> allot::StakeRoot { return index_.root_max(); }

private:
    struct Nothing {
        friend auto operator==(const Nothing&, const Nothing&) -> bool = default;
    };
    using Record = allot::NodeRecord<Nothing>;
    using Nodes = allot::Table<allot::NodeHandle, Record>;

    Nodes nodes_{};
    allot::StakeIndex<Nodes> index_{};
};

}  // namespace support
