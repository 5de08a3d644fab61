#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <allot/core/bytes.hpp>
#include <allot/core/sha256.hpp>
#include <allot/core/sha256_lanes.hpp>
#include <allot/journal/log_io.hpp>
#include <allot/journal/snapshot_fault.hpp>
#include <allot/result.hpp>

namespace allot { inline namespace v0 {

/// Version of a snapshot's form.
inline constexpr auto snapshot_version = std::uint32_t{2};

/// Size of a snapshot's chunks in bytes. Each has a hash of its own, so that chunks can be fetched from any party.
inline constexpr auto snapshot_chunk = std::size_t{1} << 20U;

namespace detail {

inline constexpr auto snapshot_magic = std::array<std::uint8_t, 8>{'a', 'l', 'l', 'o', 't', 's', 'n', 'p'};
inline constexpr auto snapshot_head_size = std::size_t{20};
inline constexpr auto hash_size = std::tuple_size_v<Hash256>;

/// Divides content into chunks, each followed by its hash, behind a header and before the hash of it and of all chunks.
class ChunkWriter {
public:
    /// Writes the header. Output is collected in `out`.
    explicit ChunkWriter(std::uint64_t position) {
        auto writer = ByteWriter{out};
        writer.bytes(snapshot_magic);
        writer.integer(snapshot_version);
        writer.integer(position);
        all_.bytes(out);
    }

    /// Appends content. @complexity linear in the bytes.
    void bytes(std::span<const std::uint8_t> content) {
        while (!content.empty()) {
            const auto part = content.first(std::min(content.size(), snapshot_chunk - used_));
            out.insert(out.end(), part.begin(), part.end());
            chunk_.bytes(part);
            used_ += part.size();
            content = content.subspan(part.size());
            if (used_ == snapshot_chunk) { close(); }
        }
    }

    /// Appends the last hashes.
    void end() {
        if (used_ > 0) { close(); }
        put(all_.finish());
    }

    std::vector<std::uint8_t> out{};  ///< Output that the owner takes and clears.

private:
    void put(const Hash256& hash) { out.insert(out.end(), hash.begin(), hash.end()); }
    void close() {
        const auto hash = chunk_.finish();
        put(hash);
        all_.bytes(hash);
        chunk_ = {};
        used_ = 0;
    }

    Sha256 chunk_{};
    Sha256 all_{};
    std::size_t used_ = 0;  // bytes of content in the chunk
};

/// Reads content from a source, chunk by chunk, each after its hash was compared.
template <class Source>
class ChunkReader {
    static_assert(ByteSourceCheck<Source>::passed);

public:
    /// Reads from `source`. @pre `source` outlives the reader.
    explicit ChunkReader(Source& source) noexcept : source_{&source} {}

    /// Reads the header and returns the position.
    [[nodiscard]] auto head() -> Result<std::uint64_t, SnapshotFault> {
        if (!fill()) { return fault(SnapshotError::read_failed); }
        auto in = ByteReader{buffer_};
        const auto magic = in.bytes(snapshot_magic.size());
        if (!std::equal(magic.begin(), magic.end(), snapshot_magic.begin(), snapshot_magic.end())) {
            return fault(SnapshotError::not_a_snapshot);
        }
        const auto version = in.integer<std::uint32_t>();
        if (in.fault()) { return fault(SnapshotError::damaged); }
        if (version != snapshot_version) { return fault(SnapshotError::version_unknown); }
        const auto position = in.integer<std::uint64_t>();
        if (in.fault()) { return fault(SnapshotError::damaged); }
        all_.bytes(std::span{buffer_}.first(snapshot_head_size));
        drop(snapshot_head_size);
        return position;
    }

    /// Appends the next chunks to `content` and returns their size; 0 at the end, which is the right one.
    /// @complexity linear in the chunks, of which there are up to four.
    [[nodiscard]] auto next(std::vector<std::uint8_t>& content) -> Result<std::size_t, SnapshotFault> {
        if (ended_) { return std::size_t{0}; }
        if (!fill()) { return fault(SnapshotError::read_failed); }
        auto chunks = std::array<std::span<const std::uint8_t>, sha256_lanes>{};
        auto count = std::min(chunks.size(), (std::max(buffer_.size(), hash_size) - hash_size) / chunk_stride);
        for (std::size_t i = 0; i < count; ++i) {
            chunks[i] = std::span{buffer_}.subspan(i * chunk_stride, snapshot_chunk);
        }
        if (count == 0) {  // the last, which is shorter
            if (buffer_.size() <= 2 * hash_size) { return fault(SnapshotError::damaged); }
            chunks[count++] = std::span{buffer_}.first(buffer_.size() - 2 * hash_size);
        }
        const auto hashes = sha256_each(chunks);
        auto size = std::size_t{0};
        for (std::size_t i = 0; i < count; ++i) {
            if (!stands_at(hashes[i], i * chunk_stride + chunks[i].size())) { return fault(SnapshotError::damaged); }
            all_.bytes(hashes[i]);
            content.insert(content.end(), chunks[i].begin(), chunks[i].end());
            size += chunks[i].size();
        }
        drop(size + count * hash_size);
        if (!fill()) { return fault(SnapshotError::read_failed); }
        ended_ = buffer_.size() == hash_size;
        if (ended_ && !stands_at(all_.finish(), 0)) { return fault(SnapshotError::damaged); }
        return size;
    }

private:
    [[nodiscard]] static auto fault(SnapshotError error) -> FailureOf<SnapshotFault> {
        return FailureOf<SnapshotFault>{SnapshotFault{error}};
    }
    [[nodiscard]] auto stands_at(const Hash256& hash, std::size_t offset) const -> bool {
        return std::equal(hash.begin(), hash.end(), buffer_.begin() + static_cast<std::ptrdiff_t>(offset));
    }
    void drop(std::size_t bytes) {
        buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(bytes));
    }

    static constexpr auto chunk_stride = snapshot_chunk + hash_size;

    /// Reads until the buffer holds the longest chunks, their hashes and one more, or the source ends. False if it
    /// failed.
    auto fill() -> bool {
        constexpr auto whole = sha256_lanes * chunk_stride + hash_size;
        while (buffer_.size() < whole) {
            const auto have = buffer_.size();
            buffer_.resize(std::min(whole, std::max(2 * have, std::size_t{1} << 16U)));
            const auto got = source_->read(std::span{buffer_}.subspan(have));
            buffer_.resize(have + got.value_or(0));
            if (!got) { return false; }
            if (*got == 0) { return true; }
        }
        return true;
    }

    Source* source_;
    std::vector<std::uint8_t> buffer_{};
    Sha256 all_{};
    bool ended_ = false;
};

/// A source of bytes in memory.
struct SpanSource {
    std::span<const std::uint8_t> left;

    [[nodiscard]] auto read(std::span<std::uint8_t> into) -> Result<std::size_t, IoError> {
        const auto size = std::min(into.size(), left.size());
        std::copy_n(left.begin(), size, into.begin());
        left = left.subspan(size);
        return size;
    }
};

}  // namespace detail

}}  // namespace allot::v0
