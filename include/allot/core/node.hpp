#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <allot/core/handle.hpp>
#include <allot/core/held_models.hpp>
#include <allot/core/id.hpp>
#include <allot/core/list.hpp>
#include <allot/core/rare.hpp>
#include <allot/core/software_version.hpp>
#include <allot/core/stake_root.hpp>
#include <allot/core/time.hpp>
#include <allot/core/units.hpp>

namespace allot { inline namespace v0 {

/// The embedder's description of a node that joins.
struct NodeSpec {
    NodeId id;                                ///< Name of the node.
    std::string gpu{};                        ///< Model of the card, such as "RTX 4090".
    Gibibytes vram{};                         ///< Nominal video memory.
    Amount stake{};                           ///< Staked tokens; zero stake means zero weight.
    std::vector<std::string> models{};        ///< Models on its disk.
    std::string platform{};                   ///< Operating system or runtime, such as "Linux"; may stay empty.
    SoftwareVersion software{};               ///< Version of the node software.
    std::optional<OperatorId> operator_id{};  ///< The operator that runs it; by default the node is its own.
    std::vector<std::string> labels{};        ///< Free words for the embedder's own policies.
};

/// Change of a node's facts; a field left empty stays as it is.
struct NodeUpdate {
    NodeId id;
    std::optional<std::string> gpu{};
    std::optional<Gibibytes> vram{};
    std::optional<Amount> stake{};
    std::optional<std::string> platform{};
    std::optional<SoftwareVersion> software{};
    std::optional<OperatorId> operator_id{};
    std::optional<std::vector<std::string>> labels{};
};

/// The hardware and software that decide which tasks a node can run. Nodes of equal class are interchangeable to
/// `fits`.
struct NodeClass {
    std::string gpu{};
    Gibibytes vram{};
    std::string platform{};
    SoftwareVersion software{};

    friend auto operator==(const NodeClass&, const NodeClass&) -> bool = default;
};

/// State of a node. `left` keeps its history until it is forgotten.
///
/// A node that departs has left, but has more models than one command gives up. They are due at once, some at a time
/// (rule 45), and until they are gone no draw takes the node. The pool still lists one that was free
/// (`departing_free`), because to take it off the line of each model is the work that waits.
enum class NodeState : std::uint8_t {
    available,
    busy,
    pending_pause,
    pending_leave,
    paused,
    left,
    departing,
    departing_free,
};

/// The part of a node's record that most nodes do not have.
struct NodeRest {
    OperatorId operator_id = OperatorId::null();  ///< Null when the node is its own operator.
    List<std::string> labels{};

    friend auto operator==(const NodeRest&, const NodeRest&) -> bool = default;
};

/// Record of a node, as policies see it. The QoS tracker's measurements are stored separately, in its `node_data`.
///
/// It takes 88 bytes. Those that a start or an end of a task reads stand last, next to the measurements.
struct Node {
    TimePoint due_at = never;  ///< Time at which it is readmitted or, if it left, forgotten.
    Rare<NodeRest> rest{};     ///< Operator and labels. Null if it is its own operator and has no labels.
    Amount stake{};            ///< Changed by `staked`.
    NodeId id = NodeId::null();
    LeaseHandle lease = no_handle<LeaseHandle>;  ///< The lease it holds, if any.
    TaskHandle held = no_handle<TaskHandle>;     ///< The pinned task that waits for it; none while it is free.
    ClassId node_class = no_handle<ClassId>;     ///< Interned (GPU, VRAM, platform, version).
    std::uint32_t slot = 0;                      ///< Index among the nodes of its class; decides the order of draws.
    std::uint32_t stake_root_low = 0;            ///< `stake_root().packed()` in two parts: its lower four bytes,
    std::uint8_t stake_root_high = 0;            ///< and the fifth.
    NodeState state = NodeState::left;
    bool excluded = false;    ///< Kept out of candidate pools until its health recovers.
    bool kicked_out = false;  ///< Leaves for good when its lease ends. If it departs: is forgotten when its models are
                              ///< gone, because it made way for another node.

    /// The square root of its stake.
    [[nodiscard]] constexpr auto stake_root() const noexcept -> StakeRoot {
        return StakeRoot::from_packed(std::uint64_t{stake_root_high} << 32U | stake_root_low);
    }
    /// Gives it a stake, and the root of it.
    void staked(Amount amount) noexcept {
        stake = amount;
        const auto root = StakeRoot::from(amount.units).packed();
        stake_root_low = static_cast<std::uint32_t>(root);
        stake_root_high = static_cast<std::uint8_t>(root >> 32U);
    }

    /// The operator that runs it: itself, unless its spec named another.
    [[nodiscard]] auto operator_id() const noexcept -> OperatorId {
        const auto* const other = rest.find();
        return other == nullptr || other->operator_id.is_null() ? OperatorId{id.bytes()} : other->operator_id;
    }
    /// Free words for the embedder's own policies. Valid while the record stays as it is.
    [[nodiscard]] auto labels() const noexcept -> std::span<const std::string> {
        return rest.find() != nullptr ? span_of(rest.find()->labels) : std::span<const std::string>{};
    }
    /// Gives it an operator and labels. If an allocation throws, nothing changes.
    /// @pre `id` is set.
    void belongs_to(const OperatorId& operator_id, std::span<const std::string> labels) {
        const auto own = operator_id == OperatorId{id.bytes()};
        if (own && labels.empty()) {
            rest = {};
        } else {
            rest.made() =
                NodeRest{own ? OperatorId::null() : operator_id, List<std::string>(labels.begin(), labels.end())};
        }
    }

    /// True for every state before `left`: present nodes count in N and in the largest stake.
    [[nodiscard]] auto present() const noexcept -> bool { return state < NodeState::left; }

    /// True while it has left and still has models.
    [[nodiscard]] auto departs() const noexcept -> bool { return state > NodeState::left; }

    /// True while it runs a task.
    [[nodiscard]] auto leased() const noexcept -> bool { return lease != no_handle<LeaseHandle>; }

    friend auto operator==(const Node&, const Node&) -> bool = default;
};
static_assert(sizeof(void*) > 8 || sizeof(Node) <= 88, "millions of these are kept");

}}  // namespace allot::v0
