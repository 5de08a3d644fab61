#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <allot/core/fields.hpp>
#include <allot/core/sha256.hpp>
#include <allot/journal/log_io.hpp>
#include <allot/result.hpp>

#include "objects.hpp"

namespace service {

/// A checkpoint: a snapshot with a replica's section, in objects `<name>-<number>`.
struct Checkpoint {
    std::string name{};
    std::uint64_t position = 0;         ///< Of the last entry in it.
    std::uint64_t index = 0;            ///< Number of entries in it.
    std::vector<std::string> chunks{};  ///< SHA-256 of each object, in hex.
};
ALLOT_FIELDS(Checkpoint, name, position, index, chunks)

/// The checkpoints that replicas may load, the newest first. The log goes back to the last of them.
struct Checkpoints {
    std::vector<Checkpoint> kept{};
};
ALLOT_FIELDS(Checkpoints, kept)

namespace detail {

inline auto sha256_hex(std::span<const std::uint8_t> bytes) -> std::string {
    return allot::Id<struct ChunkTag>{allot::Sha256{}.bytes(bytes).finish()}.hex();
}
inline auto object_name(const Checkpoint& checkpoint, std::size_t number) -> std::string {
    return checkpoint.name + '-' + std::to_string(number);
}

}  // namespace detail

/// Collects a snapshot until a chunk is full. A sink of bytes.
class ChunkSink {
public:
    static constexpr auto chunk_bytes = std::size_t{4} << 20U;

    [[nodiscard]] auto append(std::span<const std::uint8_t> bytes) -> std::optional<allot::IoError> {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        return std::nullopt;
    }
    [[nodiscard]] static auto sync() -> std::optional<allot::IoError> { return std::nullopt; }

    [[nodiscard]] auto is_full() const noexcept -> bool { return bytes_.size() >= chunk_bytes; }
    [[nodiscard]] auto empty() const noexcept -> bool { return bytes_.empty(); }
    /// The chunk so far; the sink is then empty.
    [[nodiscard]] auto take() -> std::vector<std::uint8_t> { return std::exchange(bytes_, {}); }

private:
    std::vector<std::uint8_t> bytes_{};
};

/// Reads a checkpoint's objects, each of which must have its hash. A source of bytes.
class ChunkSource {
public:
    ChunkSource(Objects& objects, const Checkpoint& checkpoint) : objects_{objects}, checkpoint_{checkpoint} {}

    [[nodiscard]] auto read(std::span<std::uint8_t> into) -> allot::Result<std::size_t, allot::IoError> {
        if (at_ == chunk_.size()) {
            if (number_ == checkpoint_.chunks.size()) { return 0; }
            auto chunk = objects_.get(detail::object_name(checkpoint_, number_));
            if (!chunk || chunk->empty() || detail::sha256_hex(*chunk) != checkpoint_.chunks[number_]) {
                return allot::FailureOf<allot::IoError>{allot::IoError::read_failed};
            }
            chunk_ = *std::move(chunk);
            at_ = 0;
            ++number_;
        }
        const auto count = std::min(into.size(), chunk_.size() - at_);
        std::copy_n(chunk_.begin() + static_cast<std::ptrdiff_t>(at_), count, into.begin());
        at_ += count;
        return count;
    }

private:
    Objects& objects_;
    const Checkpoint& checkpoint_;
    std::vector<std::uint8_t> chunk_{};
    std::size_t at_ = 0;
    std::size_t number_ = 0;
};

/// Removes the objects of all checkpoints but those kept, if they are older than the newest kept.
inline void remove_others(Objects& objects, const Checkpoints& checkpoints) {
    const auto& kept = checkpoints.kept;
    for (const auto& object : objects.list()) {
        const auto name = object.substr(0, object.rfind('-'));
        const auto is_kept = std::any_of(kept.begin(), kept.end(), [&](const auto& c) { return c.name == name; });
        if (!kept.empty() && !is_kept && name < kept.front().name) { objects.remove(object); }
    }
}

}  // namespace service
