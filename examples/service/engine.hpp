#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <allot/core/id.hpp>
#include <allot/core/task.hpp>
#include <allot/core/time.hpp>
#include <allot/json.hpp>
#include <allot/replica/entry.hpp>

#include "clients.hpp"
#include "etcd/tls.hpp"
#include "events.hpp"
#include "problem.hpp"

namespace service {

/// The answer to a request: a problem, or JSON.
struct Answer {
    std::optional<Problem> problem{};
    allot::Json json{};
};
using Done = std::function<void(const Answer&)>;

/// The number of commands that a binary body tells before them; 0 if it is too short.
[[nodiscard]] inline auto commands_told(std::string_view body) -> std::uint32_t {
    auto count = std::uint32_t{0};
    for (auto at = body.size() < 5 ? std::size_t{0} : std::size_t{4}; at > 0; --at) {
        count = count << 8U | static_cast<std::uint8_t>(body[at]);
    }
    return count;
}

/// One page of a list. `next` is the cursor of the page after it.
struct Page {
    allot::Json items = allot::Json::array();
    std::optional<std::uint64_t> next{};
};

/// The place of a replica in a cluster on etcd.
struct ClusterOptions {
    std::vector<std::string> addresses{};  ///< Members of etcd, HOST:PORT.
    std::string name{};                    ///< Prefix of all keys.
    allot::ReplicaId id = 0;
    std::uint32_t replicas = 3;
    std::string checkpoints{};  ///< Folder that all replicas share; empty: this one writes and loads none.
    etcd::Tls tls{};
};

/// A replica over a log, without the type of its dispatcher, so that each preset is compiled once.
///
/// All calls come from one thread. Requests that were given since the last `turn` share entries of the log. Answers and
/// events are given only once the log has the entry for good.
class Engine {
public:
    struct Options {
        std::string folder{};
        std::string preset{};
        allot::Amount stake_cap{400};  ///< Of the preset hardened: the stake of a large honest node.
        std::string parameters{};      ///< JSON Lines of Configure commands, for a new log.
        std::size_t events_max = 100'000;
        std::uint64_t checkpoint_every = 200'000;
        std::optional<ClusterOptions> cluster{};  ///< None: a single replica, whose log is the folder.
    };

    virtual ~Engine() = default;

    /// Gives commands of a client. `done` is called now, or by `turn`.
    virtual void request(const Client& client, const allot::SessionId& session, std::uint64_t seq,
                         std::string_view body, bool is_binary, std::string_view signature, Done done) = 0;
    /// Gives commands of the operator, who alone may configure and postpone.
    virtual void operate(std::uint64_t seq, std::string_view body, bool is_binary, Done done) = 0;
    virtual void open_session(const Client& client, const allot::SessionId& session, Done done) = 0;

    /// `wake`, which any thread may call, says that `has_work` may have become true.
    virtual void on_work(std::function<void()> /*wake*/) {}
    /// True if there is something to do for `turn`.
    [[nodiscard]] virtual auto has_work() const -> bool = 0;
    /// Appends what was given, and gives the effects of what the log has for good. False once the engine has stopped.
    [[nodiscard]] virtual auto turn(allot::TimePoint now) -> bool = 0;
    /// Called ten times a second. Appends a tick if it is time: tasks wait, a deadline has passed, or a second went by.
    virtual void tick(allot::TimePoint now) = 0;
    /// Tells all who wait for an answer to ask again. To be called before they go, for the engine holds them.
    virtual void stop() = 0;
    /// True while the replica has not yet read the log to its end; what it shows is old.
    [[nodiscard]] virtual auto is_behind() const -> bool { return false; }
    /// The sentence of what stopped the engine; empty while it runs.
    [[nodiscard]] virtual auto fault() const -> std::string = 0;
    /// Exit status of the program after a fault.
    [[nodiscard]] virtual auto exit_status() const -> int { return 1; }

    [[nodiscard]] virtual auto node(const allot::NodeId& id) -> Answer = 0;
    [[nodiscard]] virtual auto task(const allot::TaskId& id) -> Answer = 0;
    [[nodiscard]] virtual auto nodes(std::uint64_t cursor, std::size_t limit) -> Page = 0;
    /// Unfinished tasks; those of one state, if it is given.
    [[nodiscard]] virtual auto tasks(std::uint64_t cursor, std::size_t limit, std::optional<allot::TaskState> state)
        -> Page = 0;
    [[nodiscard]] virtual auto explain_node(const allot::NodeId& id) -> Answer = 0;
    [[nodiscard]] virtual auto explain_task(const allot::TaskId& id) -> Answer = 0;
    [[nodiscard]] virtual auto probabilities(const allot::TaskId& id) -> Answer = 0;
    [[nodiscard]] virtual auto status() -> allot::Json = 0;
    [[nodiscard]] virtual auto root() -> allot::Json = 0;
    [[nodiscard]] virtual auto metrics() -> std::string = 0;
    [[nodiscard]] virtual auto events() -> EventLog& = 0;
};

/// Opens the engine of a preset. Throws `std::runtime_error` with a sentence if the folder cannot be opened.
using OpenEngine = auto(*)(const Engine::Options&) -> std::unique_ptr<Engine>;

/// The presets that this program was built with, by name.
struct Preset {
    std::string_view name;
    OpenEngine open;
};
[[nodiscard]] auto presets() -> const std::vector<Preset>&;
/// The release of this program.
[[nodiscard]] auto release() -> std::string_view;

}  // namespace service
