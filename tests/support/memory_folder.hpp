#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <allot/journal/log_io.hpp>
#include <allot/result.hpp>

namespace support {

/// A device with folders' names and files' pages in a cache. It can stop at any operation, lose any part of what was
/// not synced, fail, or be full.
class MemoryDisk {
public:
    using Bytes = std::vector<std::uint8_t>;
    struct Crash {};

    struct Inode {
        Bytes seen{};
        Bytes kept{};
        std::weak_ptr<void> writer{};
    };
    using Names = std::map<std::string, std::shared_ptr<Inode>>;

    explicit MemoryDisk(std::uint64_t seed) : random_{seed} {}

    /// Stops the machine at the operation after so many more; -1: never.
    void crash_after(int operations) { left_ = operations; }
    /// Lets one operation fail after so many more; -1: none.
    void fail_after(int operations) { good_ = operations; }
    /// Bytes that can still be written.
    std::size_t room = static_cast<std::size_t>(-1);
    /// Whether a file can be open for writing only once at a time, as a `PosixFile` can.
    bool locks = false;

    /// The machine loses power: any part of the unsynced names and pages is lost.
    void lose_power() {
        for (auto& change : pending_) {
            if (below(2) == 0) { change(kept_names_); }
        }
        pending_.clear();
        names_ = kept_names_;
        for (auto& [name, inode] : names_) {
            auto& [seen, kept, writer] = *inode;
            const auto shorter = std::min(seen.size(), kept.size());
            auto after = Bytes(shorter + below(std::max(seen.size(), kept.size()) - shorter + 1));
            for (std::size_t page = 0; page < after.size(); page += page_size) {
                const auto& from = below(2) == 0 ? seen : kept;
                for (auto i = page; i < std::min(page + page_size, after.size()); ++i) {
                    after[i] = i < from.size() ? from[i] : std::uint8_t{0};
                }
            }
            seen = kept = after;
        }
        crash_after(-1);
        fail_after(-1);
    }

    [[nodiscard]] auto names() -> Names& { return names_; }
    auto below(std::size_t n) -> std::size_t { return static_cast<std::size_t>(random_() % n); }

    static constexpr auto page_size = std::size_t{64};

private:
    friend class MemoryFolder;
    friend class FolderFile;

    /// Counts an operation; true if it fails.
    auto fails() -> bool {
        if (left_ == 0) { throw Crash{}; }
        left_ -= left_ > 0 ? 1 : 0;
        const auto failed = good_ == 0;
        good_ -= good_ >= 0 ? 1 : 0;
        return failed;
    }
    template <class F>
    void change(F&& f) {
        f(names_);
        pending_.emplace_back(std::forward<F>(f));
    }

    struct Change {
        template <class F>
        explicit Change(F f) : call{std::make_shared<Of<F>>(std::move(f))} {}
        void operator()(Names& names) const { call->run(names); }
        struct Any {
            virtual ~Any() = default;
            virtual void run(Names&) = 0;
        };
        template <class F>
        struct Of : Any {
            explicit Of(F f) : function{std::move(f)} {}
            void run(Names& names) override { function(names); }
            F function;
        };
        std::shared_ptr<Any> call;
    };

    Names names_{};
    Names kept_names_{};
    std::vector<Change> pending_{};
    std::mt19937_64 random_;
    int left_ = -1;
    int good_ = -1;
};

class FolderFile {
public:
    FolderFile(MemoryDisk& disk, std::shared_ptr<MemoryDisk::Inode> inode, bool writes)
        : disk_{&disk}, inode_{std::move(inode)}, writes_{writes} {
        if (!writes) { return; }
        at_ = inode_->seen.size();
        inode_->writer = lock_;
    }

    auto append(std::span<const std::uint8_t> bytes) -> std::optional<allot::IoError> {
        if (!writes_) { return allot::IoError::write_failed; }
        auto error = std::optional<allot::IoError>{};
        try {
            if (disk_->fails()) { error = allot::IoError::write_failed; }
        } catch (const MemoryDisk::Crash&) {
            write(bytes.first(disk_->below(bytes.size() + 1)));
            throw;
        }
        if (bytes.size() > disk_->room) { error = allot::IoError::no_space; }
        if (error) { bytes = bytes.first(std::min(disk_->room, disk_->below(bytes.size() + 1))); }
        write(bytes);
        return error;
    }
    auto sync() -> std::optional<allot::IoError> {
        if (disk_->fails()) {
            const auto some = std::min(inode_->seen.size(), inode_->kept.size());
            std::copy_n(inode_->kept.begin(), some, inode_->seen.begin());
            return allot::IoError::sync_failed;
        }
        inode_->kept = inode_->seen;
        return std::nullopt;
    }
    auto read(std::span<std::uint8_t> into) -> allot::Result<std::size_t, allot::IoError> {
        if (disk_->fails()) { return allot::FailureOf<allot::IoError>{allot::IoError::read_failed}; }
        const auto from = std::min(read_at_, inode_->seen.size());
        const auto size = std::min(into.size(), inode_->seen.size() - from);
        std::copy_n(inode_->seen.begin() + static_cast<std::ptrdiff_t>(from), size, into.begin());
        read_at_ = from + size;
        return size;
    }
    auto cut(std::uint64_t bytes) -> std::optional<allot::IoError> {
        if (disk_->fails()) { return allot::IoError::write_failed; }
        inode_->seen.resize(static_cast<std::size_t>(bytes));
        seek(bytes);
        return std::nullopt;
    }
    void seek(std::uint64_t bytes) { at_ = read_at_ = static_cast<std::size_t>(bytes); }

private:
    void write(std::span<const std::uint8_t> bytes) {
        disk_->room -= disk_->room == static_cast<std::size_t>(-1) ? 0 : bytes.size();
        inode_->seen.resize(std::max(inode_->seen.size(), at_ + bytes.size()));
        std::copy(bytes.begin(), bytes.end(), inode_->seen.begin() + static_cast<std::ptrdiff_t>(at_));
        at_ += bytes.size();
    }

    MemoryDisk* disk_;
    std::shared_ptr<MemoryDisk::Inode> inode_;
    bool writes_;
    std::shared_ptr<void> lock_ = std::make_shared<char>();
    std::size_t at_ = 0;
    std::size_t read_at_ = 0;
};

/// The one folder of a `MemoryDisk`.
class MemoryFolder {
public:
    using File = FolderFile;

    explicit MemoryFolder(MemoryDisk& disk) : disk_{&disk} {}

    auto names() -> allot::Result<std::vector<std::string>, allot::IoError> {
        if (disk_->fails()) { return allot::FailureOf<allot::IoError>{allot::IoError::read_failed}; }
        auto names = std::vector<std::string>{};
        for (const auto& [name, inode] : disk_->names_) { names.push_back(name); }
        return names;
    }
    auto to_read(const std::string& name) -> allot::Result<File, allot::IoError> {
        const auto at = disk_->names_.find(name);
        if (disk_->fails() || at == disk_->names_.end()) {
            return allot::FailureOf<allot::IoError>{allot::IoError::read_failed};
        }
        return File{*disk_, at->second, false};
    }
    auto to_write(const std::string& name) -> allot::Result<File, allot::IoError> {
        if (disk_->fails()) { return allot::FailureOf<allot::IoError>{allot::IoError::write_failed}; }
        if (!disk_->names_.contains(name)) {
            disk_->change([name, inode = std::make_shared<MemoryDisk::Inode>()](MemoryDisk::Names& names) {
                names[name] = inode;
            });
        }
        const auto& inode = disk_->names_.at(name);
        if (disk_->locks && !inode->writer.expired()) {
            return allot::FailureOf<allot::IoError>{allot::IoError::in_use};
        }
        return File{*disk_, inode, true};
    }
    auto rename(const std::string& from, const std::string& to) -> std::optional<allot::IoError> {
        const auto at = disk_->names_.find(from);
        if (disk_->fails() || at == disk_->names_.end()) { return allot::IoError::write_failed; }
        disk_->change([from, to, inode = at->second](MemoryDisk::Names& names) {
            names.erase(from);
            names[to] = inode;
        });
        return std::nullopt;
    }
    auto remove(const std::string& name) -> std::optional<allot::IoError> {
        if (disk_->fails() || !disk_->names_.contains(name)) { return allot::IoError::write_failed; }
        disk_->change([name](MemoryDisk::Names& names) { names.erase(name); });
        return std::nullopt;
    }
    auto sync() -> std::optional<allot::IoError> {
        if (disk_->fails()) { return allot::IoError::sync_failed; }
        disk_->kept_names_ = disk_->names_;
        disk_->pending_.clear();
        return std::nullopt;
    }

private:
    MemoryDisk* disk_;
};

}  // namespace support
