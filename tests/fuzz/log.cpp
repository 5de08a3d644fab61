#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <allot/journal/log.hpp>

#include "fuzz/support/target.hpp"
#include "support/memory_file.hpp"

namespace fuzz_log {

namespace {

using fuzz::Bytes;
using support::MemoryFile;
using Records = std::vector<std::pair<std::uint64_t, Bytes>>;  // position and body

struct Read {
    Records records{};
    allot::LogMark mark{};
    bool fault = false;
};

auto read(const Bytes& bytes, std::size_t step) -> Read {
    auto file = MemoryFile{bytes, 0, step};
    auto reader = allot::LogReader{file};
    auto all = Read{};
    while (const auto record = reader.next()) {
        all.records.emplace_back(record->position, Bytes(record->body.begin(), record->body.end()));
    }
    all.mark = reader.mark();
    all.fault = reader.fault().has_value();
    fuzz::ensure(all.mark.bytes <= bytes.size(), "what was read is there");
    if (all.fault) {
        fuzz::ensure(reader.fault()->offset <= bytes.size(), "a fault lies within the bytes");
        fuzz::ensure(message(reader.fault()->error) != "unknown error", "a fault is named");
    }
    return all;
}

// What a log gives back after it was recovered, whatever its bytes: the records that were read before, and those
// written now.
auto recovered(MemoryFile& file) -> bool {
    const auto before = file.bytes;
    const auto was = read(before, file.step);
    fuzz::ensure(was.records == read(before, 1 << 16).records, "how many bytes a read gives does not matter");
    auto visited = Records{};
    const auto mark = allot::recover(file, [&](const allot::LogRecord& record) {
        visited.emplace_back(record.position, Bytes(record.body.begin(), record.body.end()));
    });
    fuzz::ensure(visited == was.records, "a recovery visits what a reader reads");
    if (!mark) {
        fuzz::ensure(was.fault && file.bytes == before, "a log that is refused is left alone");
        return false;
    }
    fuzz::ensure(file.bytes.size() == mark->bytes, "a mark says how long the log is");
    const auto kept = std::min<std::size_t>(was.mark.bytes, before.size());
    fuzz::ensure(file.bytes.size() >= kept &&
                     std::equal(file.bytes.begin(), file.bytes.begin() + std::ptrdiff_t(kept), before.begin()),
                 "a recovery leaves what was read as it was");
    fuzz::ensure(file.bytes.size() <= kept + allot::detail::log_mark_size,
                 "a recovery cuts the rest, and adds a mark at most");
    if (mark->position > ~std::uint64_t{0} - 2) {
        return true;  // no more fit
    }
    auto writer = allot::LogWriter{file, *mark};
    fuzz::ensure(writer.append(Bytes{1, 2, 3}) == mark->position && !writer.sync(), "a recovered log is written on");
    const auto now = read(file.bytes, file.step);
    visited.emplace_back(mark->position, Bytes{1, 2, 3});
    fuzz::ensure(!now.fault && now.records == visited, "what is written on is read after what was there");
    return true;
}

// A log that is written, damaged, recovered and written on as the bytes say; no record is read that was not written at
// its
// position.
auto damaged(fuzz::Numbers in) -> bool {
    auto file = MemoryFile{};
    file.step = 1 + in.below(300);
    auto written = std::set<std::pair<std::uint64_t, Bytes>>{};
    auto mark = allot::LogMark{in.byte()};
    auto good = true;
    while (in.left() > 0 && good && file.bytes.size() < 65'536) {
        file = MemoryFile{std::move(file.bytes), 0, file.step};
        auto writer = allot::LogWriter{file, mark};
        for (auto left = in.below(8); left > 0; --left) {
            const auto given = in.bytes(in.byte());
            const auto body = Bytes(given.begin(), given.end());
            const auto position = writer.append(body);
            written.emplace(position.value(), body);
            if (in.byte() % 2 == 1) { (void)writer.sync(); }
        }
        (void)writer.sync();
        auto& bytes = file.bytes;
        const auto at = [&] { return static_cast<std::ptrdiff_t>(in.below(bytes.size() + 1)); };
        for (auto left = in.byte() % 4; left > 0; --left) {
            auto first = at();
            auto last = at();
            if (last < first) { std::swap(first, last); }
            const auto piece = Bytes(bytes.begin() + first, bytes.begin() + last);
            switch (in.byte() % 5) {
                case 0: bytes.resize(static_cast<std::size_t>(last)); break;
                case 1: bytes.erase(bytes.begin() + first, bytes.begin() + last); break;
                case 2: bytes.insert(bytes.begin() + at(), piece.begin(), piece.end()); break;
                case 3: std::fill(bytes.begin() + first, bytes.begin() + last, std::uint8_t{0}); break;
                default:
                    if (first < last) {
                        bytes[static_cast<std::size_t>(first)] ^= static_cast<std::uint8_t>(1U << (in.byte() % 8U));
                    }
            }
        }
        for (const auto& record : read(bytes, file.step).records) {
            fuzz::ensure(written.contains(record), "no record is read that was not written at its position");
        }
        file = MemoryFile{std::move(file.bytes), 0, file.step};
        const auto after = allot::recover(file, [](const allot::LogRecord&) {});
        good = after.has_value();
        mark = good && after->bytes > 0 ? *after : allot::LogMark{mark.position};
    }
    return good;
}

auto target(std::span<const std::uint8_t> input) -> bool {
    if (!input.empty() && input[0] == 'a') {  // as a log begins
        auto file = MemoryFile{Bytes(input.begin(), input.end())};
        return recovered(file);
    }
    return damaged(fuzz::Numbers{input.subspan(std::min<std::size_t>(input.size(), 1))});
}

auto seeds() -> std::vector<Bytes> {
    auto all = std::vector<Bytes>{};
    for (const auto first : {std::uint64_t{0}, std::uint64_t{7}}) {
        auto file = MemoryFile{};
        auto writer = allot::LogWriter{file, allot::LogMark{first}};
        (void)writer.sync();
        all.push_back(file.bytes);
        for (std::size_t size = 0; size < 40; size += 13) {
            (void)writer.append(Bytes(size, static_cast<std::uint8_t>(size)));
            all.push_back(file.bytes);
            (void)writer.sync();
            all.push_back(file.bytes);
        }
        file.bytes.resize(file.bytes.size() - 3);
        all.push_back(file.bytes);
    }
    for (std::uint8_t damage = 0; damage < 5; ++damage) {
        auto script = Bytes{0, 0, 9, 3, 0, 3, 5, 1, 2, 3, 4, 5, 1, 4, 9, 8, 7, 6, 0, 2, 1, 1, 1};  // three records
        all.push_back(script);
        script.insert(script.end(), {1, 0, 70, 0, 90, damage, 0, 80});
        all.push_back(script);
    }
    std::erase_if(all, [](const Bytes& seed) { return !target(seed); });
    return all;
}

}  // namespace

ALLOT_FUZZ(log, "any bytes are a log that is read as it was written, or are refused and left alone")

}  // namespace fuzz_log
