#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <allot/assert.hpp>
#include <allot/core/sha256.hpp>
#include <allot/dispatcher/session.hpp>
#include <allot/journal/former_entries.hpp>
#include <allot/journal/log_io.hpp>
#include <allot/journal/sections.hpp>
#include <allot/journal/snapshot_check.hpp>
#include <allot/journal/snapshot_chunks.hpp>
#include <allot/journal/snapshot_fault.hpp>
#include <allot/journal/state_root.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

// A snapshot is the whole state of a dispatcher. Each state has exactly one byte string:
//
//     header       "allotsnp", version u32, position u64
//     content      in chunks of 2^20 bytes, the last may be shorter; the SHA-256 of each, 32 bytes, follows it
//     SHA-256 of the header and of the hashes of all chunks, 32 bytes
//
// The content is
//
//     embedder     name of its section, length u64, bytes
//     policies     list of byte strings: name and parameters, in the order of the roles
//     counters
//     sections     each: number of entries u32, then entries by ascending handle or id
//     state root   32 bytes
//
// The hashes find accidental damage. Against forgery, compare the state root with one that you trust.

/// Writes a snapshot in slices, while commands go on.
///
///     auto writer = allot::SnapshotWriter{dispatcher, position};
///     ...
///     auto session = dispatcher.session();
///     dispatcher.apply(command, moment, events);
///     writer.follow(session);
///     session.commit();
///     writer.write(dispatcher, sink, 4'096);
///
/// The snapshot is that of the state at the beginning. The writer copies nothing at once. It keeps the
/// former content of each entry that changes before it is written, so its memory grows with these changes.
template <class Dispatcher>
class SnapshotWriter {
public:
    /// Begins the snapshot of `dispatcher` at a position of the log, as the caller counts it.
    /// @param root The state root with `embedded`, if a followed `StateTree` has it; else each entry is hashed for it.
    /// @complexity linear in the policies and the embedder's section.
    SnapshotWriter(const Dispatcher& dispatcher, std::uint64_t position, EmbeddedSection embedded = {},
                   const std::optional<Hash256>& root = {})
        : chunks_{position}, root_{root}, embedded_{std::move(embedded)} {
        auto out = Encoder{entry_};
        out.put(embedded_.name);
        out.put(std::uint64_t{embedded_.bytes.size()});
        flush();
        chunks_.bytes(embedded_.bytes);
        out.put(encode_policies(dispatcher));
        out.put(dispatcher.state().counters());
        flush();
        if (!root_) { tree_.set_head(dispatcher); }
        detail::each_section([&]<Section section>() {
            counts_[static_cast<std::size_t>(section)] = detail::table_of<section>(dispatcher.state()).size();
        });
        begin_section();
    }

    /// Keeps the former content of the entries that a session changed and that are not yet written. Call it for each
    /// session before its commit or rollback; of nested sessions, for the outermost.
    /// @complexity linear in the changes of the session.
    void follow(const Session<Dispatcher>& session) {
        if (section_ == section_count) { return; }
        nodes_.clear();
        tasks_.clear();
        session.each_note([&](const auto& note) { keep(note); });
        keep_nodes(session.dispatcher().state());
        keep_tasks(session.dispatcher().state());
    }

    /// Appends the next slice, of `bytes_max` bytes and at most one entry more, with one call of the sink. The first
    /// slice also has all that stands before the sections, such as the embedder's bytes, at any length.
    /// Returns the sink's error; then the snapshot cannot be completed.
    /// @pre `dispatcher` is that of the beginning, and each session since then was followed.
    /// @complexity linear in the slice and in the handles passed.
    template <class Sink>
    [[nodiscard]] auto write(const Dispatcher& dispatcher, Sink& sink, std::size_t bytes_max)
        -> std::optional<IoError> {
        static_assert(ByteSinkCheck<Sink>::passed);
        while (section_ < section_count && chunks_.out.size() < bytes_max) {
            dispatch_section([&]<Section section>() { advance<section>(dispatcher, bytes_max); });
        }
        const auto error = sink.append(chunks_.out);
        chunks_.out.clear();
        return error;
    }

    /// True once the whole snapshot was written.
    [[nodiscard]] auto done() const noexcept -> bool { return section_ == section_count && chunks_.out.empty(); }

private:
    void flush() {
        chunks_.bytes(entry_);
        entry_.clear();
    }

    template <class F>
    void dispatch_section(F&& f) {
        auto done = false;
        detail::each_section([&]<Section section>() {
            if (!done && static_cast<std::size_t>(section) == section_) {
                done = true;
                f.template operator()<section>();
            }
        });
    }

    /// Writes the count of the section, passes over empty sections, and at the end writes the root.
    void begin_section() {
        next_ = 0;
        while (section_ < section_count) {
            Encoder{entry_}.put(counts_[section_]);
            flush();
            if (counts_[section_] > 0) { return; }
            former_[section_] = {};
            ++section_;
        }
        chunks_.bytes(root_ ? *root_ : tree_.root(embedded_));
        chunks_.end();
    }

    /// Writes entries of the section until it ends or `bytes_max` bytes are collected.
    template <Section section>
    void advance(const Dispatcher& dispatcher, std::size_t bytes_max) {
        auto& former = former_[section_];
        for (; counts_[section_] > 0 && chunks_.out.size() < bytes_max; ++next_) {
            auto entry = std::span<const std::uint8_t>{};
            if (former.has(next_)) {
                entry = former.entry(next_);
            } else {
                detail::entry_of<section>(dispatcher.state(), next_, entry_);
                entry = entry_;
            }
            if (entry.empty()) { continue; }
            chunks_.bytes(entry);
            if (!root_) { tree_.set(section, next_, entry); }
            --counts_[section_];
        }
        entry_.clear();
        if (counts_[section_] > 0) { return; }
        former = {};
        ++section_;
        begin_section();
    }

    /// True if the entry was not yet written, and its former content is not kept yet.
    [[nodiscard]] auto wanted(Section section, std::uint32_t number) const -> bool {
        const auto at = static_cast<std::size_t>(section);
        return (at > section_ || (at == section_ && number >= next_)) && !former_[at].has(number);
    }

    template <class H, class... Values>
    void keep_entry(H h, const Values&... values) {
        constexpr auto section = section_of<H>;
        if (!wanted(section, h.value)) { return; }
        entry_.clear();
        auto out = Encoder{entry_};
        if constexpr (sizeof...(Values) > 0) { detail::put_entry(out, h.value, values...); }
        former_[static_cast<std::size_t>(section)].keep(h.value, entry_);
        entry_.clear();
    }

    template <class H, class Record>
    void keep(const Replaced<H, Record>& note) {
        if constexpr (std::is_same_v<H, NodeHandle>) {
            nodes_.push_back({.handle = note.handle, .record = &note});
        } else if constexpr (std::is_same_v<H, TaskHandle>) {
            tasks_.push_back({.handle = note.handle, .record = &note});
        } else if (note.before) {
            keep_entry(note.handle, *note.before);
        } else {
            keep_entry(note.handle);
        }
    }
    void keep(const StandingEdited& note) { nodes_.push_back({.handle = note.handle, .standing = &note}); }
    void keep(const TaskEdited& note) { tasks_.push_back({.handle = note.handle, .standing = &note}); }
    void keep(const QosEdited<typename Dispatcher::NodeData>& note) {
        nodes_.push_back({.handle = note.handle, .qos = &note});
    }
    void keep(const HoldingsReplaced& note) { nodes_.push_back({.handle = note.handle, .held = &note}); }
    void keep(const WishesReplaced& note) { nodes_.push_back({.handle = note.handle, .wished = &note}); }
    template <class Id>
    void keep(const Inserted<Id>& note) {
        keep_entry(note.id);
    }
    template <class Id, class Value>
    void keep(const Erased<Id, Value>& note) {
        keep_entry(note.id, note.value);
    }
    template <class N>
    void keep(const N&) {}  // counters and parameters are written at the beginning

    /// The notes of one session about a node, whose entry is its record and its models.
    struct NodeNotes {
        NodeHandle handle;
        const Replaced<NodeHandle, typename Dispatcher::Record>* record = nullptr;
        const StandingEdited* standing = nullptr;  ///< Of an edit before `record`, as the next.
        const QosEdited<typename Dispatcher::NodeData>* qos = nullptr;
        const HoldingsReplaced* held = nullptr;
        const WishesReplaced* wished = nullptr;
    };

    /// Keeps the nodes of `nodes_`: the oldest note of each kind has the former content; without one it is as now.
    void keep_nodes(const typename Dispatcher::State& state) {
        std::stable_sort(nodes_.begin(), nodes_.end(),
                         [](const NodeNotes& a, const NodeNotes& b) { return a.handle < b.handle; });
        for (auto first = nodes_.begin(); first != nodes_.end();) {
            auto notes = *first;
            auto end = first;
            for (; end != nodes_.end() && end->handle == notes.handle; ++end) {
                if (notes.record == nullptr) {
                    notes.record = end->record;
                    notes.standing = notes.standing == nullptr ? end->standing : notes.standing;
                    notes.qos = notes.qos == nullptr ? end->qos : notes.qos;
                }
                if (notes.held == nullptr) { notes.held = end->held; }
                if (notes.wished == nullptr) { notes.wished = end->wished; }
            }
            first = end;
            const auto* record = notes.record == nullptr ? state.nodes().find_record(notes.handle)
                                 : notes.record->before  ? &*notes.record->before
                                                         : nullptr;
            if (record == nullptr) {
                keep_entry(notes.handle);
            } else {
                auto former = *record;
                if (notes.standing != nullptr) { restore(former.node, notes.standing->before); }
                if (notes.qos != nullptr) { former.qos = notes.qos->before; }
                keep_entry(notes.handle, former,
                           merged(notes.held == nullptr ? state.holdings(notes.handle) : notes.held->before,
                                  notes.wished == nullptr ? state.wishes(notes.handle) : notes.wished->before));
            }
        }
    }

    /// A note of one session about a task: of the whole record, or of an edit.
    struct TaskNote {
        TaskHandle handle;
        const Replaced<TaskHandle, Task>* record = nullptr;
        const TaskEdited* standing = nullptr;
    };

    /// Keeps the tasks of `tasks_`: the oldest whole record, or that of now, with the standing before the oldest edit
    /// that came earlier.
    void keep_tasks(const typename Dispatcher::State& state) {
        std::stable_sort(tasks_.begin(), tasks_.end(),
                         [](const TaskNote& a, const TaskNote& b) { return a.handle < b.handle; });
        for (auto first = tasks_.begin(); first != tasks_.end();) {
            const auto others = [&](const TaskNote& note) { return note.handle != first->handle; };
            const auto end = std::find_if(first, tasks_.end(), others);
            const auto whole = std::find_if(first, end, [](const TaskNote& note) { return note.record != nullptr; });
            const auto* record = state.tasks().find_record(first->handle);
            if (whole != end) { record = whole->record->before ? &*whole->record->before : nullptr; }
            if (record == nullptr) {
                keep_entry(first->handle);
            } else if (first->standing == nullptr) {
                keep_entry(first->handle, *record);
            } else {
                auto former = *record;
                restore(former, first->standing->before);
                keep_entry(first->handle, former);
            }
            first = end;
        }
    }

    detail::ChunkWriter chunks_;
    std::optional<Hash256> root_;
    EmbeddedSection embedded_;
    StateTree tree_{};                                   // used only without `root_`
    std::array<std::uint32_t, section_count> counts_{};  // entries left to write
    std::array<FormerEntries, section_count> former_{};
    std::size_t section_ = 0;
    std::uint32_t next_ = 0;  // the next number of the section
    std::vector<std::uint8_t> entry_{};
    std::vector<NodeNotes> nodes_{};
    std::vector<TaskNote> tasks_{};
};

/// The snapshot of a dispatcher at a position of the log, as the caller counts it.
/// @complexity linear in the records.
template <class Dispatcher>
[[nodiscard]] auto snapshot(const Dispatcher& dispatcher, std::uint64_t position, const EmbeddedSection& embedded = {})
    -> std::vector<std::uint8_t> {
    struct Sink {
        [[nodiscard]] auto append(std::span<const std::uint8_t> values) -> std::optional<IoError> {
            bytes.insert(bytes.end(), values.begin(), values.end());
            return std::nullopt;
        }
        [[nodiscard]] static auto sync() -> std::optional<IoError> { return std::nullopt; }
        std::vector<std::uint8_t> bytes{};
    };
    auto sink = Sink{};
    auto writer = SnapshotWriter{dispatcher, position, embedded};
    while (!writer.done()) { (void)writer.write(dispatcher, sink, snapshot_chunk); }
    return std::move(sink.bytes);
}

/// The result of loading a snapshot.
template <class Dispatcher>
struct Loaded {
    Dispatcher dispatcher;
    std::uint64_t position = 0;
    Hash256 state_root{};  ///< The state root of the dispatcher and the embedder's section, recomputed.
    EmbeddedSection embedded{};
    StateTree tree{};  ///< Of the dispatcher, to follow.
};

/// The dispatcher of a snapshot, whose bytes may come from any party. `snapshot` returns the same bytes for it, because
/// no others are accepted.
///
/// `composed` is a dispatcher without records, with the policies of the snapshot. Every reference between records is
/// checked, so no bytes can lead to a state with references that break the library's own rules. The bytes cannot prove
/// that it is the *right* state: compare the state root.
///
/// @return the dispatcher, or the error as a `SnapshotFault`.
/// @complexity O(n log n); memory as `SnapshotLimits` says, and some 40 MiB of the snapshot at a time.
template <class Source, class Dispatcher>
    requires byte_source<Source>
[[nodiscard]] auto load_snapshot(Source& source, Dispatcher composed, const SnapshotLimits& limits = {})
    -> Result<Loaded<Dispatcher>, SnapshotFault> {
    const auto refused = [](SnapshotFault fault) { return FailureOf<SnapshotFault>{fault}; };
    auto chunks = detail::ChunkReader<Source>{source};
    const auto position = chunks.head();
    if (!position) { return refused(position.error()); }

    // The loader sees a window of the content. No value is longer than half of it.
    constexpr auto window = std::size_t{32} << 20U;
    auto content = std::vector<std::uint8_t>{};
    auto in = ByteReader{content};
    auto broken = std::optional<SnapshotFault>{};
    auto ended = false;
    const auto refill = [&]() -> std::uint64_t {
        if (ended || in.remaining() >= window / 2 || in.fault()) { return 0; }
        auto got = std::uint64_t{0};
        content.erase(content.begin(), content.end() - static_cast<std::ptrdiff_t>(in.remaining()));
        while (content.size() < window) {
            const auto chunk = chunks.next(content);
            if (!chunk) { broken = chunk.error(); }
            ended = !chunk || *chunk == 0;
            if (ended) { break; }
            got += *chunk;
        }
        in = ByteReader{content};
        return got;
    };
    auto reach = limits.reach_max + refill();

    auto embedded = EmbeddedSection{};
    auto decoder = Decoder{in};
    decoder.get(embedded.name);
    for (auto left = in.template integer<std::uint64_t>(); left > 0 && !in.fault();) {
        const auto part = in.bytes(static_cast<std::size_t>(std::min<std::uint64_t>(left, window / 2)));
        embedded.bytes.insert(embedded.bytes.end(), part.begin(), part.end());
        left -= part.size();
        reach += refill();
    }
    if (in.fault()) {
        return refused(broken.value_or(SnapshotFault{SnapshotError::malformed, "embedder", 0, in.fault()}));
    }
    if (const auto fault = detail::read_policies(in, composed, limits.parameters)) {
        return refused(broken.value_or(*fault));
    }

    auto loader = detail::SnapshotLoader<Dispatcher>{in, composed.state().key(), reach};
    auto tree = StateTree{};
    if (const auto fault = loader.load(tree, refill)) { return refused(broken.value_or(*fault)); }
    const auto stated = in.bytes(detail::hash_size);
    in.end();
    (void)refill();
    if (in.fault() || broken || in.remaining() > 0) {
        return refused(broken.value_or(SnapshotFault{SnapshotError::malformed, "state root", 0, in.fault()}));
    }
    composed.adopt(std::move(loader.state()));
    tree.set_head(composed);
    const auto root = tree.root(embedded);
    if (!std::equal(root.begin(), root.end(), stated.begin(), stated.end())) {
        return refused({SnapshotError::contradiction, "state root"});
    }
    return Loaded<Dispatcher>{std::move(composed), *position, root, std::move(embedded), std::move(tree)};
}

/// The same for a snapshot in memory. Error: as above. @complexity as above.
template <class Dispatcher>
[[nodiscard]] auto load_snapshot(std::span<const std::uint8_t> bytes, Dispatcher composed,
                                 const SnapshotLimits& limits = {}) -> Result<Loaded<Dispatcher>, SnapshotFault> {
    auto source = detail::SpanSource{bytes};
    return load_snapshot(source, std::move(composed), limits);
}

}}  // namespace allot::v0
