#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include <allot/journal/log_io.hpp>

namespace support {

/// The fault to inject, once: at the chosen operation, or at the first one after it that allows this fault.
enum class Fault : std::uint8_t {
    none,          ///< No fault.
    error,         ///< The operation fails and has no effect.
    short_write,   ///< A write fails half way, a read gives a single byte.
    crash,         ///< The machine stops during the operation: the program gets no answer.
    bit_flip,      ///< A write keeps one bit wrong, a read gives one bit wrong, and both report success.
    lost_sync,     ///< A sync reports success and keeps nothing.
    lost_pages,    ///< A sync fails, and pages that it did not write look as if it had: no later sync writes them.
    hole,          ///< The machine stops; the file has its length, but pages in its middle were not written.
    out_of_order,  ///< The machine stops within a record; later pages of it were written and earlier ones not.
};

/// A file in memory that fails on purpose, like a file behind a page cache. The program reads its own writes. The
/// device has the pages written by a sync, and any of the others. Pages are small, so that a record spans several.
class FaultyFile {
public:
    /// Thrown when the machine stops.
    struct Crash {};

    FaultyFile(Fault fault, int at, std::uint64_t seed)
        : fault_{fault}, left_{at}, random_{seed}, page_{16U << below(3)} {}

    auto append(std::span<const std::uint8_t> bytes) -> std::optional<allot::IoError> {
        const auto some = below(bytes.size() + 1);
        switch (due()) {
            case Fault::error: return allot::IoError::write_failed;
            case Fault::short_write: write(bytes.first(some)); return allot::IoError::no_space;
            case Fault::crash: write(bytes.first(some)); throw Crash{};
            case Fault::hole: write(bytes); throw Crash{};
            case Fault::out_of_order:
                write(bytes);
                if ((at_ - 1) / page_ > (at_ - bytes.size()) / page_) { throw Crash{}; }
                wait();
                return std::nullopt;
            case Fault::bit_flip:
                write(bytes);
                flip(std::span{seen_}.subspan(at_ - bytes.size(), bytes.size()));
                return std::nullopt;
            case Fault::lost_sync:
            case Fault::lost_pages: wait(); break;
            case Fault::none: break;
        }
        write(bytes);
        return std::nullopt;
    }
    auto sync() -> std::optional<allot::IoError> {
        switch (due()) {
            case Fault::error:
            case Fault::short_write: return allot::IoError::sync_failed;
            case Fault::crash:
            case Fault::hole: throw Crash{};
            case Fault::lost_sync: return std::nullopt;
            case Fault::lost_pages:
                if (lose_pages()) { return allot::IoError::sync_failed; }
                wait();
                break;
            case Fault::out_of_order:
            case Fault::bit_flip: wait(); break;
            case Fault::none: break;
        }
        for (std::size_t page = 0; page < dirty_.size(); ++page) {
            if (dirty_[page]) { keep_page(page); }
        }
        kept_.resize(seen_.size());
        return std::nullopt;
    }
    auto read(std::span<std::uint8_t> into) -> allot::Result<std::size_t, allot::IoError> {
        auto count = std::min(into.size(), seen_.size() - at_);
        const auto fault = due();
        switch (fault) {
            case Fault::error: return allot::FailureOf<allot::IoError>{allot::IoError::read_failed};
            case Fault::short_write: count = std::min<std::size_t>(count, 1); break;
            case Fault::crash: throw Crash{};
            case Fault::lost_sync:
            case Fault::lost_pages:
            case Fault::hole:
            case Fault::out_of_order: wait(); break;
            case Fault::bit_flip:
            case Fault::none: break;
        }
        std::copy_n(seen_.begin() + static_cast<std::ptrdiff_t>(at_), count, into.begin());
        if (fault == Fault::bit_flip) { flip(into.first(count)); }
        at_ += count;
        return count;
    }
    auto cut(std::uint64_t bytes) -> std::optional<allot::IoError> {
        switch (due()) {
            case Fault::error:
            case Fault::short_write: return allot::IoError::write_failed;
            case Fault::crash:
            case Fault::hole: throw Crash{};
            case Fault::lost_sync:
            case Fault::lost_pages:
            case Fault::out_of_order:
            case Fault::bit_flip: wait(); break;
            case Fault::none: break;
        }
        at_ = static_cast<std::size_t>(bytes);
        seen_.resize(at_);
        dirty_.resize(pages(at_));
        if (below(2) == 0) {  // else the cut bytes come back if the machine stops before the next sync
            kept_.resize(std::min(kept_.size(), at_));
        }
        return std::nullopt;
    }
    void seek(std::uint64_t bytes) { at_ = static_cast<std::size_t>(bytes); }

    /// The program ends and another opens the file. Pages that look written may have left the cache.
    void reopen() {
        for (std::size_t page = 0; page < dirty_.size(); ++page) {
            if (!dirty_[page] && below(4) == 0) {
                for (auto i = page * page_; i < std::min((page + 1) * page_, seen_.size()); ++i) {
                    seen_[i] = i < kept_.size() ? kept_[i] : std::uint8_t{0};
                }
            }
        }
        at_ = 0;
    }

    /// The machine restarts. Any part of the unsynced bytes may have been kept.
    void restart() {
        const auto before = kept_;
        const auto end = seen_.size();
        auto written = dirty_;
        if (fault_ == Fault::hole && end > before.size()) {
            const auto first = before.size() / page_;
            const auto lost = first + below(pages(end) - first);
            written[lost] = false;
        } else if (fault_ == Fault::out_of_order || fault_ == Fault::lost_pages) {
            for (std::size_t page = 0; page < written.size(); ++page) {
                written[page] = written[page] && below(2) == 0;
            }
        }
        auto last = std::size_t{0};
        for (std::size_t page = 0; page < written.size(); ++page) {
            if (written[page]) {
                keep_page(page);
                last = page;
            }
        }
        if (fault_ == Fault::hole) {
            kept_.resize(std::max(kept_.size(), end));
        } else if (fault_ != Fault::out_of_order && fault_ != Fault::lost_pages && kept_.size() > before.size()) {
            kept_.resize(before.size() + below(kept_.size() - before.size() + 1));
        }
        for (std::size_t page = 0; page < last; ++page) {
            missing_ += dirty_[page] && !written[page] && differs(page) ? 1U : 0U;
        }
        seen_ = kept_;
        dirty_.assign(pages(seen_.size()), false);
        at_ = 0;
    }

    /// True if the fault has been injected.
    [[nodiscard]] auto fired() const -> bool { return fired_; }
    /// Number of pages that a failed sync marked clean without writing them, or that a crash lost before later ones.
    [[nodiscard]] auto missing() const -> std::size_t { return missing_; }
    [[nodiscard]] auto bytes() -> std::vector<std::uint8_t>& { return seen_; }
    /// Keeps all written bytes.
    void keep() {
        kept_ = seen_;
        dirty_.assign(pages(seen_.size()), false);
    }

private:
    auto due() -> Fault {
        if (left_ > 0 && --left_ == 0) {
            fired_ = true;
            return fault_;
        }
        return Fault::none;
    }
    void wait() {
        fired_ = false;
        left_ = 1;
    }
    auto below(std::size_t n) -> std::size_t { return static_cast<std::size_t>(random_() % n); }
    [[nodiscard]] auto pages(std::size_t bytes) const -> std::size_t { return (bytes + page_ - 1) / page_; }

    void write(std::span<const std::uint8_t> bytes) {
        seen_.resize(std::max(seen_.size(), at_ + bytes.size()));
        dirty_.resize(pages(seen_.size()));
        std::copy(bytes.begin(), bytes.end(), seen_.begin() + static_cast<std::ptrdiff_t>(at_));
        for (std::size_t i = 0; i < bytes.size(); ++i) { dirty_[(at_ + i) / page_] = true; }
        at_ += bytes.size();
    }
    void keep_page(std::size_t page) {
        const auto end = std::min((page + 1) * page_, seen_.size());
        kept_.resize(std::max(kept_.size(), end));
        for (auto i = page * page_; i < end; ++i) { kept_[i] = seen_[i]; }
        dirty_[page] = false;
    }
    [[nodiscard]] auto differs(std::size_t page) const -> bool {
        for (auto i = page * page_; i < std::min((page + 1) * page_, seen_.size()); ++i) {
            if (i >= kept_.size() || kept_[i] != seen_[i]) { return true; }
        }
        return false;
    }
    /// Loses random unsynced pages. Returns true if any was lost.
    auto lose_pages() -> bool {
        const auto before = missing_;
        for (std::size_t page = 0; page < dirty_.size(); ++page) {
            if (dirty_[page]) {
                if (below(2) == 0) { keep_page(page); }
                missing_ += differs(page) ? 1U : 0U;
                dirty_[page] = false;
            }
        }
        return missing_ > before;
    }
    void flip(std::span<std::uint8_t> bytes) {
        if (!bytes.empty()) {
            const auto bit = below(8 * bytes.size());
            bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8U));
        }
    }

    Fault fault_;
    int left_;
    std::mt19937_64 random_;
    std::size_t page_;
    std::vector<std::uint8_t> seen_{};
    std::vector<std::uint8_t> kept_{};
    std::vector<bool> dirty_{};  // pages that the next sync writes
    std::size_t at_ = 0;
    std::size_t missing_ = 0;
    bool fired_ = false;
};

}  // namespace support
