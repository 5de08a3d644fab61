#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <allot/core/command.hpp>
#include <allot/core/events.hpp>
#include <allot/core/moment.hpp>
#include <allot/core/score.hpp>
#include <allot/core/task.hpp>
#include <allot/core/u128.hpp>
#include <allot/validation/validation_parameters.hpp>

namespace simulate {

/// Any command but `Configure`, whose type differs between dispatchers.
using Verb = std::variant<allot::command::Join, allot::command::Update, allot::command::Pause, allot::command::Resume,
                          allot::command::Leave, allot::command::ReportModel, allot::command::Observe,
                          allot::command::Slash, allot::command::Submit, allot::command::Cancel, allot::command::Commit,
                          allot::command::Complete, allot::command::Fail, allot::command::Decline,
                          allot::command::Renew, allot::command::Score, allot::command::Advance, allot::command::Match>;

/// The QoS of a node; a part that a tracker does not have is zero.
struct Quality {
    double health = 0;      ///< 0 to 1.
    double long_score = 0;  ///< Mean of the last scores, in points.
    double score = 0;       ///< As in the selection weight, 0 to 1.
};

/// One parameter of a dispatcher: its policy's role, the name of the type that holds it, its own name, and its value as
/// JSON.
struct Parameter {
    std::string role{};
    std::string type{};
    std::string name{};
    std::string value{};
};

/// A dispatcher of any preset.
class Network {
public:
    Network() = default;
    Network(const Network&) = delete;
    auto operator=(const Network&) -> Network& = delete;
    virtual ~Network() = default;

    virtual auto apply(const Verb& verb, const allot::Moment& moment) -> allot::Events = 0;

    /// The events that would follow if these commands were given now, each at its moment. The network stays as it is.
    [[nodiscard]] virtual auto foresee(std::span<const std::pair<Verb, allot::Moment>> commands) -> allot::Events = 0;
    /// The nodes that the next draw for a task could choose, each with its weight. Throws `std::invalid_argument` for a
    /// task that would be refused.
    [[nodiscard]] virtual auto weights(const allot::TaskSpec& task) const
        -> std::vector<std::pair<allot::NodeId, allot::u128>> = 0;
    /// The least fee of a task, below which it would be refused.
    [[nodiscard]] virtual auto fee_min(const allot::TaskSpec& task) const -> allot::Amount = 0;
    /// Nodes that are drawn for a task, before a lot decides among them.
    [[nodiscard]] virtual auto draw_among() const -> std::uint32_t = 0;

    /// Sets parameters before the first command: "qos.window=30", by role or by type. Throws `std::invalid_argument`
    /// with a sentence that lists what exists.
    virtual void set(const std::vector<std::string>& settings) = 0;
    /// Policies whose parameters were set: so many commands begin a log.
    [[nodiscard]] virtual auto configured() const -> std::size_t = 0;
    /// Writes every command from now on into a file, as `replay` reads it. Throws `std::runtime_error`.
    virtual void keep_log(const std::string& path) = 0;
    /// Ends the file, if one is kept. Throws `std::runtime_error` if it could not be written.
    virtual void close_log() = 0;
    [[nodiscard]] virtual auto parameters() -> std::vector<Parameter> = 0;

    [[nodiscard]] virtual auto next_deadline_ms() const -> std::optional<std::int64_t> = 0;
    [[nodiscard]] virtual auto queue_capacity() const -> std::uint32_t = 0;
    /// Bytes of a snapshot of the state when all that lapses has lapsed. Linear in the state.
    [[nodiscard]] virtual auto state_bytes() const -> std::uint64_t = 0;
    /// The QoS of a present node at a time.
    [[nodiscard]] virtual auto quality(const allot::NodeId& node, allot::TimePoint time) const -> Quality = 0;
    [[nodiscard]] virtual auto points_max() const -> std::uint32_t = 0;
    /// The expected wait of a waiting task; none if it is unknown, or if the task does not wait.
    [[nodiscard]] virtual auto expected_wait_ms(const allot::TaskId& task) const -> std::optional<std::int64_t> = 0;
};

/// Amounts that a preset cannot know, because their unit is the network's.
struct Scale {
    allot::Amount stake_cap;             ///< The stake of a large honest node, for presets that cap.
    allot::Amount fee_per_second_min{};  ///< The least price of a second on a node, for presets with a price.
    allot::Ratio stake_per_fee{};        ///< Stake for each unit of a price, for presets with collateral.
    allot::Amount stake_typical{};       ///< The stake of a node in the middle.
};

/// A preset of the library, and its name on the command line.
struct Preset {
    std::string_view name;
    std::unique_ptr<Network> (*open)(const Scale& scale);
    std::uint32_t gang_size = 1;  ///< Nodes that run one task.
    /// Time between two rounds of `match`; 0: none. Each command brings entropy, but for those of the relay.
    std::int64_t round_ms = 0;
    /// Parameters for this world, which `--set` overrides.
    std::vector<std::string> settings{};
    /// True: the world asks nodes for models and gives entropy to `match` alone, as the relay does, and tasks list
    /// their base models alone.
    bool relay = false;
    /// Time after which an honest node that was kicked out joins again; 0: never.
    std::int64_t rejoin_ms = 0;
    /// How an embedder of the preset judges validation groups.
    allot::ValidationParameters validation{};
    /// How the world is made fair to the preset, and what does not apply: a sentence each.
    std::vector<std::string> notes{};
};

[[nodiscard]] auto presets() -> const std::vector<Preset>&;
/// Throws `std::invalid_argument` for an unknown name.
[[nodiscard]] auto find_preset(std::string_view name) -> const Preset&;
/// Units of a fee for each unit of a price: a task states a fee, and its nodes get the price. Throws
/// `std::invalid_argument` for a setting of "terms.paid" that is not 1/N.
[[nodiscard]] auto fees_per_price(const Preset& preset, const std::vector<std::string>& settings) -> std::uint32_t;
/// Opens a network with the preset's parameters for this world and then these. The scale is in prices.
[[nodiscard]] auto open_network(const Preset& preset, const Scale& scale, const std::vector<std::string>& settings)
    -> std::unique_ptr<Network>;
[[nodiscard]] auto preset_names() -> std::vector<std::string>;

}  // namespace simulate
