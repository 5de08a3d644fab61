#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <allot/dispatcher/session.hpp>
#include <allot/journal/folder.hpp>
#include <allot/journal/log.hpp>
#include <allot/journal/sections.hpp>
#include <allot/journal/snapshot.hpp>
#include <allot/journal/store_fault.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

/// When a store writes snapshots, and how many it keeps.
struct StoreParameters {
    std::uint64_t checkpoint_every = 1'000'000;         ///< Records between snapshots; 0: only when asked for.
    std::size_t slice_bytes = std::size_t{1} << 18U;    ///< Bytes of a snapshot that one `sync` writes.
    std::uint32_t snapshots_kept = 2;                   ///< Number of snapshots kept, at least 1.
    std::uint64_t reach_max = std::uint64_t{1} << 26U;  ///< As `SnapshotLimits::reach_max`: the files are one's own.
};

/// The state that follows from the records of a store.
///
///     typename M::Dispatcher
///     dispatcher() const -> const Dispatcher&             the state that a snapshot holds
///     embedded() const -> EmbeddedSection                 all else that belongs to the state
///     composed() const -> Dispatcher                      without records, to load a snapshot into
///     load(Loaded<Dispatcher>) -> bool                    takes the state over; false if it is none of this machine
///     replay(position, record) -> bool                    applies a record; false if it is none of this machine
template <class M>
concept store_machine = requires(M& m, const M& c, std::uint64_t position, std::span<const std::uint8_t> record,
                                 Loaded<typename M::Dispatcher> loaded) {
    { c.dispatcher() } -> std::same_as<const typename M::Dispatcher&>;
    { c.embedded() } -> std::same_as<EmbeddedSection>;
    { c.composed() } -> std::same_as<typename M::Dispatcher>;
    { m.load(std::move(loaded)) } -> std::same_as<bool>;
    { m.replay(position, record) } -> std::same_as<bool>;
};

/// A state that outlasts crashes: records in a log, and snapshots from which the log is read on.
///
/// The log is cut into segments `log-<first position>.allot`, each with the check of the one before. A snapshot
/// `snapshot-<position>.allot` begins together with a segment, is written a slice at each `sync`, and gets its name
/// once it is synced. Then older snapshots beyond `snapshots_kept` are removed, and segments that lie before the oldest
/// kept.
///
/// A record is acknowledged once `sync` has returned without an error. After an error of the log the store refuses all
/// records with `broken`; open it again.
template <store_machine Machine, folder Folder>
class BasicStore {
    using File = typename Folder::File;
    using Dispatcher = typename Machine::Dispatcher;

public:
    /// Opens the folder: loads the newest good snapshot, reads the log from it on, cuts a torn tail.
    /// An empty folder gives the machine as it is.
    ///
    /// A snapshot that cannot be loaded gets the ending `.bad` if an older one and the log, or the log alone, give the
    /// state. Other files are left alone.
    ///
    /// Error: a `StoreFault`, which names the file; then all acknowledged records are still there.
    /// @complexity linear in the snapshot and in the log behind it.
    [[nodiscard]] static auto open(Folder folder, Machine begun, const StoreParameters& parameters = {})
        -> Result<BasicStore, StoreFault> {
        return open(std::move(folder), std::move(begun), parameters, [](const Machine&) {});
    }
    /// The same, calling `replayed(machine)` after each record of the log. Error: as above.
    template <class Replayed>
    [[nodiscard]] static auto open(Folder folder, Machine begun, const StoreParameters& parameters,
                                   const Replayed& replayed) -> Result<BasicStore, StoreFault> {
        auto store = BasicStore{std::move(folder), std::move(begun), parameters};
        if (auto fault = store.recover_all(replayed)) { return FailureOf<StoreFault>{std::move(*fault)}; }
        return store;
    }

    /// Appends a record and returns its position. Apply it to `machine()` only then.
    ///
    /// Error: as `LogWriter::append`.
    /// @complexity linear in the record.
    auto append(std::span<const std::uint8_t> record) -> Result<std::uint64_t, IoError> {
        return broken_ ? Result<std::uint64_t, IoError>{FailureOf<IoError>{IoError::broken}} : log_->append(record);
    }

    /// Shows a session of the dispatcher to the snapshot in progress. Call it before each commit or rollback while
    /// `is_writing()`. @complexity linear in the session's changes.
    void follow(const Session<Dispatcher>& session) {
        if (snapshot_) { snapshot_->follow(session); }
    }

    /// Returns once all appended records outlast a crash. Then it writes a slice of the snapshot in progress, or begins
    /// one if it is time.
    ///
    /// Error: that of the log. An error of the snapshot is kept in `snapshot_error`; the log goes on.
    /// @complexity linear in the records since the last call, and in the slice.
    auto sync() -> std::optional<IoError> {
        if (broken_) { return IoError::broken; }
        if (const auto error = log_->sync()) { return error; }
        if (snapshot_) {
            write_slice();
        } else if (parameters_.checkpoint_every > 0 && position() - asked_at_ >= parameters_.checkpoint_every) {
            return checkpoint();
        }
        return std::nullopt;
    }

    /// Begins a snapshot of the state now, unless one is in progress; `sync` writes it.
    ///
    /// Error: that of the log, which begins a new segment. An error of the snapshot is kept in `snapshot_error`.
    auto checkpoint() -> std::optional<IoError> {
        if (broken_) { return IoError::broken; }
        if (snapshot_) { return std::nullopt; }
        asked_at_ = position();
        if (const auto error = begin_segment()) { return error; }
        snapshot_error_.reset();
        snapshot_error_ = begin_snapshot();
        return std::nullopt;
    }

    /// Writes the rest of the snapshot in progress at once. @complexity linear in the rest.
    void finish_checkpoint() {
        while (snapshot_) { write_slice(); }
    }

    /// True while a snapshot is being written.
    [[nodiscard]] auto is_writing() const noexcept -> bool { return snapshot_.has_value(); }
    /// The error that ended the last snapshot; none if it is in progress or stands.
    [[nodiscard]] auto snapshot_error() const noexcept -> const std::optional<IoError>& { return snapshot_error_; }
    /// Positions of the snapshots that stand, ascending.
    [[nodiscard]] auto snapshots() const noexcept -> const std::vector<std::uint64_t>& { return snapshots_; }
    /// Name of the file that takes the next record.
    [[nodiscard]] auto file() const -> std::string { return log_name(segments_.back()); }
    /// Position of the next record.
    [[nodiscard]] auto position() const noexcept -> std::uint64_t { return log_->mark().position; }
    /// Position behind the last record that outlasts a crash.
    [[nodiscard]] auto synced() const noexcept -> std::uint64_t { return log_->synced().position; }
    /// The machine. Change it only by records that were appended.
    [[nodiscard]] auto machine() noexcept -> Machine& { return machine_; }
    [[nodiscard]] auto machine() const noexcept -> const Machine& { return machine_; }

private:
    BasicStore(Folder folder, Machine begun, const StoreParameters& parameters)
        : folder_{std::move(folder)}, machine_{std::move(begun)}, parameters_{parameters} {}

    static auto name_of(std::string_view kind, std::uint64_t position) -> std::string {
        const auto digits = std::to_string(position);
        return std::string{kind} + std::string(20 - digits.size(), '0') + digits + ".allot";
    }
    /// The position in a name of this kind; none for another name.
    static auto position_in(std::string_view name, std::string_view kind) -> std::optional<std::uint64_t> {
        auto position = std::uint64_t{0};
        if (name.size() < kind.size() + 20) { return std::nullopt; }
        const auto digits = name.substr(kind.size(), 20);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), position);
        return error == std::errc{} && name == name_of(kind, position) ? std::optional{position} : std::nullopt;
    }
    static auto log_name(std::uint64_t position) -> std::string { return name_of("log-", position); }
    static auto snapshot_name(std::uint64_t position) -> std::string { return name_of("snapshot-", position); }
    static constexpr auto part_name = "snapshot.part";

    // ---- opening --------------------------------------------------------------------------------------------------

    template <class Replayed>
    [[nodiscard]] auto recover_all(const Replayed& replayed) -> std::optional<StoreFault> {
        const auto names = folder_.names();
        if (!names) { return StoreFault{StoreError::io_failed, ".", names.error()}; }
        for (const auto& name : *names) {
            if (const auto at = position_in(name, "log-")) { segments_.push_back(*at); }
            if (const auto at = position_in(name, "snapshot-")) { snapshots_.push_back(*at); }
        }
        std::sort(segments_.begin(), segments_.end());
        std::sort(snapshots_.begin(), snapshots_.end());
        // A snapshot begins together with a segment, which was synced before the snapshot stood.
        const auto newest = snapshots_.empty() ? std::optional<std::uint64_t>{} : snapshots_.back();
        if (newest && segments_.empty()) { return StoreFault{StoreError::log_gap, log_name(*newest)}; }

        auto bad = std::vector<std::uint64_t>{};
        auto why = std::optional<StoreFault>{};
        auto from = std::uint64_t{0};
        for (auto loaded = false; !loaded && !snapshots_.empty();) {
            from = snapshots_.back();
            if (auto fault = load(from)) {
                if (fault->error == StoreError::io_failed) { return fault; }  // it may be good
                bad.push_back(from);
                snapshots_.pop_back();
                from = 0;
                if (!why) { why = std::move(fault); }
            } else {
                loaded = true;
            }
        }
        if (auto fault = replay_from(from, newest, replayed)) {
            // Without the snapshot the log does not give the state: so the snapshot has to be mended.
            return why && fault->error == StoreError::log_gap ? why : fault;
        }
        if (newest && (position() < *newest || (position() == *newest && segments_.back() < *newest))) {
            return StoreFault{StoreError::log_gap, log_name(*newest)};
        }
        for (const auto position : bad) {
            const auto name = snapshot_name(position);
            if (const auto error = folder_.rename(name, name + ".bad")) {
                return StoreFault{StoreError::io_failed, name, *error};
            }
        }
        if (std::find(names->begin(), names->end(), part_name) != names->end()) {
            if (const auto error = folder_.remove(part_name)) {
                return StoreFault{StoreError::io_failed, part_name, *error};
            }
        }
        asked_at_ = from;
        return std::nullopt;
    }

    [[nodiscard]] auto load(std::uint64_t position) -> std::optional<StoreFault> {
        const auto name = snapshot_name(position);
        auto file = folder_.to_read(name);
        if (!file) { return StoreFault{StoreError::io_failed, name, file.error()}; }
        auto loaded =
            load_snapshot(*file, machine_.composed(), {SnapshotParameters::taken_over, parameters_.reach_max});
        if (!loaded && loaded.error().error == SnapshotError::read_failed) {
            return StoreFault{StoreError::io_failed, name, IoError::read_failed};
        }
        if (!loaded) { return StoreFault{StoreError::snapshot_damaged, name, {}, {}, loaded.error()}; }
        if (loaded->position != position || !machine_.load(*std::move(loaded))) {
            return StoreFault{StoreError::snapshot_damaged, name};
        }
        return std::nullopt;
    }

    /// Reads the segments from the one that holds `from` on, and makes the writer.
    /// @param newest where the newest snapshot begins, whether or not it is good.
    template <class Replayed>
    [[nodiscard]] auto replay_from(std::uint64_t from, std::optional<std::uint64_t> newest, const Replayed& replayed)
        -> std::optional<StoreFault> {
        auto first = std::upper_bound(segments_.begin(), segments_.end(), from);
        if (segments_.empty()) { return make_segment({from, 0, 0}); }
        if (first == segments_.begin()) { return StoreFault{StoreError::log_gap, log_name(*first)}; }
        auto expected = std::optional<LogMark>{};
        for (--first; first != segments_.end(); ++first) {
            const auto name = log_name(*first);
            if (expected && expected->position != *first) { return StoreFault{StoreError::log_gap, name}; }
            const auto is_last = first + 1 == segments_.end();
            auto opened = is_last ? folder_.to_write(name) : folder_.to_read(name);
            if (!opened) { return StoreFault{StoreError::io_failed, name, opened.error()}; }
            auto file = std::make_unique<File>(*std::move(opened));
            auto fault = std::optional<StoreFault>{};
            const auto replay = [&](const LogRecord& record) {
                if (fault || record.position < from) { return; }
                if (machine_.replay(record.position, record.body)) {
                    replayed(std::as_const(machine_));
                } else {
                    fault = StoreFault{StoreError::record_unknown, name, {}, {}, {}, record.position};
                }
            };
            expected = is_last ? replay_last(*file, name, expected, fault, replay)
                               : replay_whole(*file, name, expected, fault, replay);
            if (fault) { return fault; }
            if (expected->position < *first) { return StoreFault{StoreError::log_damaged, name}; }
            if (is_last) { segment_ = std::move(file); }
        }
        // A segment without its header began last, and no snapshot stood at it.
        if (expected->bytes == 0 && newest && segments_.back() <= *newest) {
            return StoreFault{StoreError::log_damaged, log_name(segments_.back())};
        }
        log_.emplace(*segment_, *expected);
        if (expected->bytes == 0 && log_->sync()) {
            return StoreFault{StoreError::io_failed, log_name(segments_.back()), IoError::write_failed};
        }
        return std::nullopt;
    }

    /// Reads a segment that others follow. A tail may be torn only behind the last record, in the mark of a sync.
    template <class F>
    auto replay_whole(File& file, const std::string& name, const std::optional<LogMark>& expected,
                      std::optional<StoreFault>& fault, const F& replay) -> LogMark {
        auto reader = LogReader<File>{file};
        auto next = std::upper_bound(segments_.begin(), segments_.end(), *position_in(name, "log-"));
        while (const auto record = reader.next()) { replay(*record); }
        check_begin(reader.begun(), name, expected, fault);
        const auto torn = reader.fault() && reader.fault()->error == LogError::torn_tail;
        const auto whole = reader.mark().position == *next;
        if (!fault && ((reader.fault() && !torn) || !whole)) { fault = damaged(name, reader.fault()); }
        return {reader.mark().position, reader.mark().check, 0};
    }

    /// Reads the last segment and cuts a torn tail.
    template <class F>
    auto replay_last(File& file, const std::string& name, const std::optional<LogMark>& expected,
                     std::optional<StoreFault>& fault, const F& replay) -> LogMark {
        {
            auto reader = LogReader<File>{file};
            file.seek(0);
            (void)reader.next();
            if (reader.begun() != LogMark{}) { check_begin(reader.begun(), name, expected, fault); }
            if (fault) { return {}; }
        }
        const auto mark = recover(file, replay);
        if (!mark && !fault) { fault = damaged(name, mark.error()); }
        if (fault) { return {}; }
        if (mark->bytes == 0) {  // its header was not written
            return expected ? *expected : LogMark{*position_in(name, "log-"), 0, 0};
        }
        return *mark;
    }

    static auto damaged(const std::string& name, const std::optional<LogFault>& log) -> StoreFault {
        const auto error = log ? log->error : LogError::torn_tail;
        if (error == LogError::read_failed) { return {StoreError::io_failed, name, IoError::read_failed}; }
        if (error == LogError::cut_failed) { return {StoreError::io_failed, name, IoError::write_failed}; }
        return {StoreError::log_damaged, name, {}, log};
    }

    void check_begin(const LogMark& begun, const std::string& name, const std::optional<LogMark>& expected,
                     std::optional<StoreFault>& fault) const {
        if (!fault && (begun.position != *position_in(name, "log-") ||
                       (expected && (begun.position != expected->position || begun.check != expected->check)))) {
            fault = StoreFault{StoreError::log_damaged, name};
        }
    }

    // ---- writing --------------------------------------------------------------------------------------------------

    /// Makes the segment that begins at `mark` and writes its header.
    [[nodiscard]] auto make_segment(const LogMark& mark) -> std::optional<StoreFault> {
        const auto name = log_name(mark.position);
        auto opened = folder_.to_write(name);
        if (!opened) { return StoreFault{StoreError::io_failed, name, opened.error()}; }
        auto file = std::make_unique<File>(*std::move(opened));
        auto error = file->cut(0);
        auto log = LogWriter<File>{*file, mark};
        if (!error) { error = log.sync(); }
        if (!error) { error = folder_.sync(); }
        if (error) { return StoreFault{StoreError::io_failed, name, *error}; }
        segment_ = std::move(file);
        log_.emplace(log);
        segments_.push_back(mark.position);
        return std::nullopt;
    }

    [[nodiscard]] auto begin_segment() -> std::optional<IoError> {
        if (const auto error = log_->sync()) { return error; }
        const auto& mark = log_->mark();
        if (mark.position == segments_.back()) { return std::nullopt; }
        broken_ = true;  // if this fails or throws: a part of the new segment may be there, so the old must not grow
        const auto fault = make_segment({mark.position, mark.check, 0});
        broken_ = fault.has_value();
        return fault ? fault->io : std::nullopt;
    }

    [[nodiscard]] auto begin_snapshot() -> std::optional<IoError> {
        part_.reset();  // of an attempt that failed: its lock would keep this one out
        auto opened = folder_.to_write(part_name);
        if (!opened) { return opened.error(); }
        part_ = std::make_unique<File>(*std::move(opened));
        if (const auto error = part_->cut(0)) { return error; }
        snapshot_.emplace(machine_.dispatcher(), position(), machine_.embedded());
        snapshot_at_ = position();
        return std::nullopt;
    }

    void write_slice() {
        if (!snapshot_error_) {
            snapshot_error_ = IoError::broken;  // until the slice is written: it may throw, and be half there
            snapshot_error_ = snapshot_->write(machine_.dispatcher(), *part_, parameters_.slice_bytes);
            if (!snapshot_error_ && !snapshot_->done()) { return; }
        }
        if (!snapshot_error_) { snapshot_error_ = name_snapshot(); }
        snapshot_.reset();
        part_.reset();
        if (snapshot_error_) {
            (void)folder_.remove(part_name);
        } else {
            snapshot_error_ = drop_old();
        }
    }

    [[nodiscard]] auto name_snapshot() -> std::optional<IoError> {
        if (const auto error = part_->sync()) { return error; }
        if (const auto error = folder_.rename(part_name, snapshot_name(snapshot_at_))) { return error; }
        if (const auto error = folder_.sync()) { return error; }
        if (snapshots_.empty() || snapshots_.back() != snapshot_at_) { snapshots_.push_back(snapshot_at_); }
        return std::nullopt;
    }

    /// Removes the snapshots that are too many, then the segments that lie before the oldest kept.
    [[nodiscard]] auto drop_old() -> std::optional<IoError> {
        const auto kept = std::max<std::size_t>(parameters_.snapshots_kept, 1);
        while (snapshots_.size() > kept) {
            if (const auto error = folder_.remove(snapshot_name(snapshots_.front()))) { return error; }
            snapshots_.erase(snapshots_.begin());
        }
        while (snapshots_.size() == kept && segments_.size() > 1 && segments_[1] <= snapshots_.front()) {
            if (const auto error = folder_.remove(log_name(segments_.front()))) { return error; }
            segments_.erase(segments_.begin());
        }
        return std::nullopt;
    }

    Folder folder_;
    Machine machine_;
    StoreParameters parameters_;
    std::vector<std::uint64_t> segments_{};   // first positions, ascending
    std::vector<std::uint64_t> snapshots_{};  // positions, ascending
    std::unique_ptr<File> segment_{};         // the last; the writer points to it
    std::optional<LogWriter<File>> log_{};
    std::optional<SnapshotWriter<Dispatcher>> snapshot_{};
    std::unique_ptr<File> part_{};
    std::uint64_t snapshot_at_ = 0;
    std::uint64_t asked_at_ = 0;  // position of the last snapshot that was begun
    std::optional<IoError> snapshot_error_{};
    bool broken_ = false;
};

}}  // namespace allot::v0
