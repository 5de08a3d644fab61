#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <allot/json.hpp>
#include <allot/replica/entry.hpp>
#include <allot/replica/ordered_log.hpp>

#include "tls.hpp"

namespace service {

/// The value of a key of etcd. A revision of 0 means that there is none.
struct ClusterValue {
    std::string text{};
    std::int64_t revision = 0;
};

/// The place of one replica in a cluster on etcd: its log, who ticks, and the checkpoints by name.
///
///     <cluster>/version      entries' form and preset; written once, together with the first entry
///     <cluster>/log/…        entries, as `etcd::OrderedLog` says
///     <cluster>/ids/<id>     the process that runs as this replica, under a lease of 2 s
///     <cluster>/leader       the replica that ticks, under a lease of 2 s
///     <cluster>/checkpoint   the checkpoints that a replica may load
///
/// Threads of its own wait for etcd. All calls come from one thread, except those that say so.
class Cluster {
public:
    struct Options {
        std::vector<std::string> addresses{};  ///< Members of etcd, HOST:PORT.
        std::string name{};
        allot::ReplicaId id = 0;
        etcd::Tls tls{};
    };

    explicit Cluster(const Options& options);
    ~Cluster();
    Cluster(const Cluster&) = delete;
    auto operator=(const Cluster&) -> Cluster& = delete;

    /// `wake` is called by another thread when there is something to take, or a lane is free.
    void on_work(std::function<void()> wake);
    /// Ends all waiting calls. Any thread may call.
    void stop();

    /// Writes the version and the first entry of a new cluster. Returns the version of the cluster, or none after
    /// `stop`. It waits for etcd; any thread may call.
    auto join(const std::string& version, const std::vector<std::uint8_t>& first) -> std::optional<std::string>;
    /// The checkpoints now, or none after `stop`. It waits for etcd; any thread may call.
    auto read_checkpoints() -> std::optional<ClusterValue>;
    /// Names the checkpoints, if they are still those of `known`, and drops entries up to `through`. False if others
    /// were named before or etcd did not answer. It waits for etcd; any thread may call.
    auto name_checkpoints(const std::string& text, const ClusterValue& known, std::uint64_t through) -> bool;
    /// The checkpoints, as seen within the last second.
    [[nodiscard]] auto checkpoints() const -> ClusterValue;

    /// True if a lane is free.
    [[nodiscard]] auto can_propose() const -> bool;
    /// Appends an entry, and tries until it is there. @pre `can_propose()`; nonces grow.
    void propose(std::uint64_t nonce, std::vector<std::uint8_t> bytes);
    /// Calls `wake` at that time, if a lane is free then.
    void wake_at(std::chrono::steady_clock::time_point time);

    /// Begins to read behind a position.
    void read_from(std::uint64_t position);
    [[nodiscard]] auto has_entries() const -> bool;
    /// The next entries, `count_max` at most.
    auto take(std::size_t count_max) -> std::vector<allot::LoggedEntry>;
    /// True if the entries that are next were dropped: load a checkpoint and read on from there.
    [[nodiscard]] auto is_compacted() const -> bool;
    /// True if `position` is not before the end of the log, as it was when reading began.
    [[nodiscard]] auto is_caught_up(std::uint64_t position) const -> bool;
    /// Gives up a member of etcd that has been silent too long. To be called ten times a second.
    void check_silence();

    /// True once this process was seen to hold the id of its replica, until another one is.
    [[nodiscard]] auto holds_id() const -> bool;
    /// True if another process has held the id for longer than one that died can.
    [[nodiscard]] auto is_id_taken() const -> bool;

    /// Says whether this replica may tick.
    void stand(bool may_lead);
    [[nodiscard]] auto leads() const -> bool;
    /// The replica that ticks, as seen within the last second; none if there is none.
    [[nodiscard]] auto leader() const -> std::optional<allot::ReplicaId>;

    /// True if etcd answered within the last 3 s.
    [[nodiscard]] auto is_reached() const -> bool;
    [[nodiscard]] auto status() const -> allot::Json;

private:
    struct Threads;
    std::unique_ptr<Threads> threads_;
};

}  // namespace service
