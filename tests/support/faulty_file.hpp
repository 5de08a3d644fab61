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

/// What goes wrong, once, at the operation that was chosen or at the first after it that can go wrong in this way.
enum class Fault : std::uint8_t {
    none,         ///< All goes well.
    error,        ///< The operation fails and nothing is done.
    short_write,  ///< A write fails half way, a read gives a single byte.
    crash,        ///< The machine stops within the operation: the program is told nothing more.
    bit_flip,     ///< A write keeps one bit wrong, a read gives one bit wrong, and both report success.
    lost_sync,    ///< A sync reports success and keeps nothing.
};

/// A file in memory that fails on purpose. What was written is kept at the next sync; a crash keeps that and any part of the
/// rest, as a disk does.
class FaultyFile {
public:
    /// Thrown where the machine stops.
    struct Crash {};

    FaultyFile(Fault fault, int at, std::uint64_t seed) : fault_{fault}, left_{at}, random_{seed} {}

    auto append(std::span<const std::uint8_t> bytes) -> std::optional<allot::IoError> {
        const auto some = below(bytes.size() + 1);
        switch (due()) {
            case Fault::error: return allot::IoError::write_failed;
            case Fault::short_write: write(bytes.first(some)); return allot::IoError::no_space;
            case Fault::crash: write(bytes.first(some)); throw Crash{};
            case Fault::bit_flip: write(bytes); flip(std::span{written_}.last(bytes.size())); return std::nullopt;
            case Fault::lost_sync: wait(); break;
            case Fault::none: break;
        }
        write(bytes);
        return std::nullopt;
    }
    auto sync() -> std::optional<allot::IoError> {
        switch (due()) {
            case Fault::error:
            case Fault::short_write: return allot::IoError::sync_failed;
            case Fault::crash: throw Crash{};
            case Fault::lost_sync: return std::nullopt;
            case Fault::bit_flip: wait(); break;
            case Fault::none: break;
        }
        kept_ = written_.size();
        return std::nullopt;
    }
    auto read(std::span<std::uint8_t> into) -> allot::Result<std::size_t, allot::IoError> {
        auto count = std::min(into.size(), written_.size() - at_);
        const auto fault = due();
        switch (fault) {
            case Fault::error: return allot::FailureOf<allot::IoError>{allot::IoError::read_failed};
            case Fault::short_write: count = std::min<std::size_t>(count, 1); break;
            case Fault::crash: throw Crash{};
            case Fault::lost_sync: wait(); break;
            case Fault::bit_flip:
            case Fault::none: break;
        }
        std::copy_n(written_.begin() + static_cast<std::ptrdiff_t>(at_), count, into.begin());
        if (fault == Fault::bit_flip) {
            flip(into.first(count));
        }
        at_ += count;
        return count;
    }
    auto cut(std::uint64_t bytes) -> std::optional<allot::IoError> {
        switch (due()) {
            case Fault::error:
            case Fault::short_write: return allot::IoError::write_failed;
            case Fault::crash: throw Crash{};
            case Fault::lost_sync:
            case Fault::bit_flip: wait(); break;
            case Fault::none: break;
        }
        written_.resize(static_cast<std::size_t>(bytes));
        kept_ = std::min(kept_, written_.size());  // what is kept of a cut file is at least its beginning
        return std::nullopt;
    }

    /// The machine starts anew. Any part of what was not kept may have been.
    void restart() {
        written_.resize(kept_ + below(written_.size() - kept_ + 1));
        kept_ = written_.size();
        at_ = 0;
    }

    /// Whether the fault has come.
    [[nodiscard]] auto fired() const -> bool { return fired_; }
    [[nodiscard]] auto bytes() -> std::vector<std::uint8_t>& { return written_; }
    /// All that was written is kept.
    void keep() { kept_ = written_.size(); }

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
    void write(std::span<const std::uint8_t> bytes) { written_.insert(written_.end(), bytes.begin(), bytes.end()); }
    void flip(std::span<std::uint8_t> bytes) {
        if (!bytes.empty()) {
            const auto bit = below(8 * bytes.size());
            bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8U));
        }
    }

    Fault fault_;
    int left_;
    std::mt19937_64 random_;
    std::vector<std::uint8_t> written_{};
    std::size_t kept_ = 0;
    std::size_t at_ = 0;
    bool fired_ = false;
};

}  // namespace support
