#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <allot/allot.hpp>
#include <allot/journal/encode.hpp>
#include <allot/journal/log.hpp>

#include "support/any_value.hpp"
#include "support/catch.hpp"
#include "support/commands.hpp"
#include "support/faulty_file.hpp"
#include "support/memory_file.hpp"
#include "support/seed.hpp"

namespace {

using allot::IoError;
using allot::LogError;
using allot::LogFault;
using allot::LogMark;
using allot::LogReader;
using allot::LogWriter;
using support::Fault;
using support::FaultyFile;
using support::MemoryFile;
using Bytes = std::vector<std::uint8_t>;

// The i-th record's body: of some length, unlike all others.
auto body(std::size_t i) -> Bytes {
    auto bytes = Bytes((i * 7) % 23, static_cast<std::uint8_t>(i));
    bytes.push_back(static_cast<std::uint8_t>(i));
    bytes.push_back(static_cast<std::uint8_t>(i >> 8U));
    return bytes;
}

// A log of records, synced or not, and where each ends; the first entry is the header's end.
struct Written {
    MemoryFile file{};
    std::vector<std::size_t> ends{};
    LogMark mark{};
};
auto unsynced(std::size_t count, LogMark from = {}, std::size_t body_from = 0) -> Written {
    auto all = Written{};
    auto writer = LogWriter{all.file, from};
    REQUIRE_FALSE(writer.sync());
    all.ends.push_back(all.file.bytes.size());
    for (std::size_t i = 0; i < count; ++i) {
        REQUIRE(writer.append(body(body_from + i)) == from.position + i);
        all.ends.push_back(all.file.bytes.size());
    }
    all.mark = writer.mark();
    return all;
}
auto written(std::size_t count, LogMark from = {}, std::size_t body_from = 0) -> Written {
    auto all = unsynced(count, from, body_from);
    auto writer = LogWriter{all.file, all.mark};
    REQUIRE_FALSE(writer.sync());
    all.mark = writer.mark();
    return all;
}

// What a reader makes of bytes.
struct Reading {
    std::vector<Bytes> bodies{};
    std::optional<LogFault> fault{};
    LogMark mark{};
};
template <class Source>
auto reading(Source& source) -> Reading {
    auto all = Reading{};
    auto reader = LogReader{source};
    while (const auto record = reader.next()) { all.bodies.emplace_back(record->body.begin(), record->body.end()); }
    CHECK_FALSE(reader.next());
    all.fault = reader.fault();
    all.mark = reader.mark();
    return all;
}
auto reading(Bytes bytes) -> Reading {
    auto source = MemoryFile{std::move(bytes)};
    return reading(source);
}

auto are_the_first(const std::vector<Bytes>& bodies) -> bool {
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        if (bodies[i] != body(i)) { return false; }
    }
    return true;
}

auto cut_out(const Written& log, std::size_t from, std::size_t to) -> Bytes {
    auto bytes = log.file.bytes;
    const auto at = [&](std::size_t i) { return bytes.begin() + static_cast<std::ptrdiff_t>(log.ends[i]); };
    bytes.erase(at(from), at(to));
    return bytes;
}
auto piece(const Written& log, std::size_t record) -> Bytes {
    return {log.file.bytes.begin() + static_cast<std::ptrdiff_t>(log.ends[record]),
            log.file.bytes.begin() + static_cast<std::ptrdiff_t>(log.ends[record + 1])};
}
auto with(Bytes bytes, std::size_t at, const Bytes& more) -> Bytes {
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), more.begin(), more.end());
    return bytes;
}

constexpr auto records = std::size_t{12};

}  // namespace

TEST_CASE("a log gives back what was appended, in order") {
    auto log = written(records);
    const auto all = reading(log.file);
    CHECK(all.bodies.size() == records);
    CHECK(are_the_first(all.bodies));
    CHECK_FALSE(all.fault);
    CHECK(all.mark == log.mark);
    CHECK(all.mark.position == records);
    CHECK(all.mark.bytes == log.file.bytes.size());
}

TEST_CASE("the form of a log is what its version says") {
    auto file = MemoryFile{};
    auto writer = LogWriter{file};
    REQUIRE(writer.append(Bytes{0xAB, 0xCD}) == 0);
    const auto expected = Bytes{'a', 'l', 'l', 'o', 't', 'l', 'o', 'g', 1, 0, 0, 0,               // magic, version
                                0,   0,   0,   0,   0,   0,   0,   0,   0, 0, 0, 0, 0, 0, 0, 0};  // position, check
    REQUIRE(file.bytes.size() == 36 + 16 + 2 + 8);
    CHECK(std::equal(expected.begin(), expected.end(), file.bytes.begin()));
    CHECK(file.bytes[36] == 2);     // length
    CHECK(file.bytes[40] == 0);     // position
    CHECK(file.bytes[52] == 0xAB);  // body
    CHECK(file.bytes[53] == 0xCD);
    REQUIRE_FALSE(writer.sync());
    REQUIRE_FALSE(writer.sync());  // nothing new is not marked again
    const auto mark = Bytes{0xA1, 's', 'y', 'n', 'c', 'e', 'd', 0xA2, 62, 0, 0, 0, 0, 0, 0, 0};  // and its offset
    REQUIRE(file.bytes.size() == 62 + 24);
    CHECK(std::equal(mark.begin(), mark.end(), file.bytes.begin() + 62));
}

TEST_CASE("nothing is no log yet, and no fault") {
    const auto none = reading(Bytes{});
    CHECK_FALSE(none.fault);
    CHECK(none.mark == LogMark{});

    auto file = MemoryFile{};
    auto writer = LogWriter{file};
    CHECK_FALSE(writer.sync());
    const auto begun = reading(file);
    CHECK_FALSE(begun.fault);
    CHECK(begun.mark.position == 0);
    CHECK(begun.mark.bytes == file.bytes.size());
}

TEST_CASE("a body may be empty, and is refused when it is too long") {
    auto file = MemoryFile{.step = 1U << 20U};
    auto writer = LogWriter{file};
    CHECK(writer.append({}) == 0);
    const auto before = writer.mark();
    CHECK(writer.append(Bytes(allot::log_body_max + 1)).error() == IoError::too_long);
    CHECK(writer.mark() == before);
    CHECK(writer.append(Bytes(allot::log_body_max, 7)) == 1);
    const auto all = reading(file);
    CHECK_FALSE(all.fault);
    REQUIRE(all.bodies.size() == 2);
    CHECK(all.bodies[0].empty());
    CHECK(all.bodies[1].size() == allot::log_body_max);
}

TEST_CASE("a log goes on where it stood, and where another ended") {
    auto log = unsynced(5);
    auto writer = LogWriter{log.file, reading(log.file).mark};
    for (std::size_t i = 5; i < records; ++i) { REQUIRE(writer.append(body(i)) == i); }
    CHECK(log.file.bytes == unsynced(records).file.bytes);

    // A second file that follows the first.
    auto next = written(3, {records, writer.mark().check, 0}, records);
    const auto all = reading(next.file);
    CHECK_FALSE(all.fault);
    CHECK(all.mark.position == records + 3);
    CHECK(all.bodies[0] == body(records));
}

TEST_CASE("a log that ends anywhere gives what is whole, and says that its tail is torn") {
    const auto log = unsynced(records);
    for (std::size_t size = 0; size <= log.file.bytes.size(); ++size) {
        CAPTURE(size);
        const auto all =
            reading(Bytes(log.file.bytes.begin(), log.file.bytes.begin() + static_cast<std::ptrdiff_t>(size)));
        const auto after = std::upper_bound(log.ends.begin(), log.ends.end(), size);
        const auto whole =
            static_cast<std::size_t>(after - log.ends.begin());  // the header and so many records less one
        REQUIRE(all.bodies.size() == (whole == 0 ? 0 : whole - 1));
        REQUIRE(are_the_first(all.bodies));
        const auto good = whole == 0 ? 0 : log.ends[whole - 1];
        REQUIRE(all.mark.bytes == good);
        if (size == good) {
            REQUIRE_FALSE(all.fault);
        } else {
            REQUIRE(all.fault == LogFault{LogError::torn_tail, all.bodies.size(), good});
        }
    }
}

TEST_CASE("each flipped bit before a mark is found, in its own record, and is never taken for a torn tail") {
    const auto log = written(records);
    for (std::size_t bit = 0; bit < 8 * log.ends.back(); ++bit) {
        CAPTURE(bit);
        auto bytes = log.file.bytes;
        bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8U));
        const auto all = reading(bytes);
        const auto after = std::upper_bound(log.ends.begin(), log.ends.end(), bit / 8);
        const auto whole = static_cast<std::size_t>(after - log.ends.begin());
        REQUIRE(are_the_first(all.bodies));
        REQUIRE(all.bodies.size() == (whole == 0 ? 0 : whole - 1));
        REQUIRE(all.fault.has_value());
        REQUIRE(all.fault->offset == (whole == 0 ? 0 : log.ends[whole - 1]));
        REQUIRE(all.fault->position == all.bodies.size());
        REQUIRE(all.fault->error == (bit < 64   ? LogError::not_a_log
                                     : bit < 96 ? LogError::version_unknown
                                                : LogError::checksum_mismatch));
    }
}

TEST_CASE("damage behind the last mark is a torn tail, whatever it is") {
    const auto log = unsynced(records);
    for (std::size_t bit = 8 * log.ends[0]; bit < 8 * log.file.bytes.size(); ++bit) {
        CAPTURE(bit);
        auto bytes = log.file.bytes;
        bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8U));
        const auto all = reading(bytes);
        const auto whole = std::upper_bound(log.ends.begin(), log.ends.end(), bit / 8) - log.ends.begin() - 1;
        const auto record = static_cast<std::size_t>(whole);
        REQUIRE(all.fault == LogFault{LogError::torn_tail, record, log.ends[record]});
        REQUIRE(all.bodies.size() == record);
    }
    // The mark itself among it: all records are there.
    auto bytes = written(records).file.bytes;
    bytes.back() ^= 1U;
    CHECK(reading(bytes).fault == LogFault{LogError::torn_tail, records, log.ends.back()});
    CHECK(reading(bytes).bodies.size() == records);
}

TEST_CASE("a body never holds a mark, so that no stranger can forge one", "[J2]") {
    const auto known = written(1).file.bytes;
    auto forged = Bytes{known.end() - 24, known.end()};
    const auto stem = Bytes{forged.begin(), forged.begin() + 7};
    forged.insert(forged.end(), stem.begin(), stem.end());
    for (const auto& text :
         {forged, stem, with(stem, 7, stem), with(stem, 7, {0}), with(stem, 7, {0, 0xA2}), with(stem, 0, {0xA1})}) {
        auto log = written(3);
        auto writer = LogWriter{log.file, log.mark};
        REQUIRE(writer.append(body(3)) == 3);
        REQUIRE(writer.append(text) == 4);
        CHECK(reading(log.file.bytes).bodies[4] == text);
        // The machine stopped, and the record before was not written: nothing synced is lost, and it opens.
        std::fill_n(log.file.bytes.begin() + static_cast<std::ptrdiff_t>(log.mark.bytes), 20, std::uint8_t{0});
        const auto mark = allot::recover(log.file, [](const allot::LogRecord&) {});
        REQUIRE(mark);
        CHECK(mark->position == 3);
        CHECK(reading(log.file.bytes).bodies.size() == 3);
    }
}

TEST_CASE("records that are missing, doubled or moved are out of order") {
    const auto log = written(records);
    for (std::size_t i = 0; i + 1 < records; ++i) {
        CAPTURE(i);
        const auto fault = LogFault{LogError::out_of_order, i, log.ends[i]};
        CHECK(reading(cut_out(log, i, i + 1)).fault == fault);
        CHECK(reading(cut_out(log, i, records - 1)).fault == fault);
        CHECK(reading(with(log.file.bytes, log.ends[i], piece(log, records - 1))).fault == fault);
        const auto doubled = reading(with(log.file.bytes, log.ends[i + 1], piece(log, i)));
        CHECK(doubled.fault == LogFault{LogError::out_of_order, i + 1, log.ends[i + 1]});
        // Two neighbours changed places.
        CHECK(reading(with(cut_out(log, i, i + 1), log.ends[i] + piece(log, i + 1).size(), piece(log, i))).fault ==
              fault);
    }
    // Without its end a log is a shorter log; no log can tell. A mark that stands elsewhere tells.
    const auto fault = LogFault{LogError::out_of_order, records - 1, log.ends[records - 1]};
    CHECK(reading(cut_out(log, records - 1, records)).fault == fault);
    CHECK_FALSE(reading(cut_out(unsynced(records), records - 1, records)).fault);
}

TEST_CASE("a record of another log fits nowhere") {
    const auto log = written(records);
    const auto other = written(records, {}, 1);
    for (std::size_t i = 1; i < records; ++i) {
        CAPTURE(i);
        const auto bytes = with(cut_out(log, i, i + 1), log.ends[i], piece(other, i));
        CHECK(reading(bytes).fault == LogFault{LogError::checksum_mismatch, i, log.ends[i]});
    }
    // Nor does the same record after another header.
    const auto later = written(1, {0, 99, 0});
    const auto bytes = with(later.file.bytes, later.ends[0], piece(log, 0));
    CHECK(reading(bytes).fault == LogFault{LogError::checksum_mismatch, 0, later.ends[0]});
}

TEST_CASE("what is no log is not read as one") {
    CHECK(reading(Bytes{'x'}).fault == LogFault{LogError::not_a_log, 0, 0});
    CHECK(reading(Bytes{'a', 'l'}).fault == LogFault{LogError::torn_tail, 0, 0});
    CHECK(reading(Bytes(1'000, 0)).fault == LogFault{LogError::not_a_log, 0, 0});
    CHECK(reading(Bytes(36, 0)).fault ==
          LogFault{LogError::torn_tail, 0, 0});  // the length of a header that was not written
    CHECK(reading(Bytes(37, 0)).fault == LogFault{LogError::not_a_log, 0, 0});
}

TEST_CASE("a length beyond the limit is refused before anything is read of it") {
    auto bytes = written(0).file.bytes;
    auto head = Bytes{};
    auto out = allot::ByteWriter{head};
    out.integer(static_cast<std::uint32_t>(allot::detail::log_stored_max + 1));
    out.integer(std::uint64_t{0});
    out.integer(static_cast<std::uint32_t>(allot::detail::log_check(0, head)));
    const auto end = bytes.size();
    CHECK(reading(with(bytes, end, head)).fault == LogFault{LogError::torn_tail, 0, end});
    const auto marked = written(1);
    const auto mark =
        Bytes{marked.file.bytes.begin() + static_cast<std::ptrdiff_t>(marked.ends[1]), marked.file.bytes.end()};
    head.insert(head.end(), mark.begin(), mark.end());
    CHECK(reading(with(bytes, end, head)).fault == LogFault{LogError::too_long, 0, end});
}

TEST_CASE("entries go through a log and come back") {
    auto any = support::AnyValue{support::seed()};
    using Entry = allot::LogEntry<support::Command>;
    auto entries = std::vector<Entry>{};
    auto file = MemoryFile{};
    auto writer = LogWriter{file};
    for (auto i = 0; i < 200; ++i) {
        entries.push_back(any.of<Entry>());
        REQUIRE(writer.append(allot::encode(entries.back())));
    }
    auto reader = LogReader{file};
    for (const auto& entry : entries) {
        const auto record = reader.next();
        REQUIRE(record);
        const auto decoded = allot::decode<Entry>(record->body);
        REQUIRE(decoded);
        REQUIRE(support::told(*decoded) == support::told(entry));
    }
    CHECK_FALSE(reader.next());
    CHECK_FALSE(reader.fault());
}

namespace {

// Appends all records to a file that fails once, and starts anew after each failure; checks what each recovery finds.
class Campaign {
public:
    Campaign(Fault fault, int at, std::uint64_t seed, std::size_t begun) : fault_{fault}, file_{fault, at, seed} {
        if (begun > 0) {  // a log of some records, and half of another
            auto log = written(begun - 1);
            const auto torn = body(begun - 1);
            REQUIRE(LogWriter{log.file, log.mark}.append(torn) == begun - 1);
            log.file.bytes.resize(log.file.bytes.size() - 5);
            file_.bytes() = std::move(log.file.bytes);
            file_.keep();
            acknowledged_ = begun - 1;
        }
    }

    // Whether all was written in the end; if not, the log said what was wrong.
    auto run() -> bool {
        for (auto restarts = 0; restarts < 4; ++restarts) {
            try {
                if (!recovered()) { return false; }
                if (wrote_the_rest()) { return true; }
            } catch (const FaultyFile::Crash&) {
                file_.restart();
                continue;
            }
            start_again();
        }
        FAIL("one fault, and yet it failed four times");
        return false;
    }
    // The machine loses its power when all is done. How many records there are then; those that were acknowledged are
    // among them.
    auto power_lost() -> std::size_t {
        file_.restart();
        try {
            const auto opened = recovered();
            REQUIRE(opened);
        } catch (const FaultyFile::Crash&) { return power_lost(); }
        return static_cast<std::size_t>(mark_.position);
    }
    [[nodiscard]] auto fired() const -> bool { return file_.fired(); }
    [[nodiscard]] auto file() -> FaultyFile& { return file_; }

private:
    // Pages that were lost look well as long as the machine runs; else it may have been the machine that failed.
    void start_again() {
        if (fault_ == Fault::lost_pages) {
            file_.reopen();
        } else {
            file_.restart();
        }
    }

    auto recovered() -> bool {
        for (auto tries = 0; tries < 2; ++tries) {
            auto bodies = std::vector<Bytes>{};
            const auto mark = allot::recover(file_, [&](const allot::LogRecord& record) {
                CHECK(record.position == bodies.size());
                bodies.emplace_back(record.body.begin(), record.body.end());
            });
            REQUIRE(are_the_first(bodies));
            if (mark) {
                REQUIRE(mark->position == bodies.size());
                REQUIRE((fault_ == Fault::lost_sync || bodies.size() >= acknowledged_));
                mark_ = *mark;
                return true;
            }
            const auto error = mark.error().error;
            CAPTURE(message(error));
            REQUIRE(mark.error().position == bodies.size());
            if (fault_ == Fault::bit_flip) {
                constexpr auto found =
                    std::array{LogError::checksum_mismatch, LogError::not_a_log, LogError::version_unknown};
                REQUIRE(std::find(found.begin(), found.end(), error) != found.end());
            } else {
                REQUIRE((fault_ == Fault::error || fault_ == Fault::short_write || fault_ == Fault::lost_pages));
                REQUIRE((error == LogError::read_failed || error == LogError::cut_failed));
            }
            start_again();  // what was read wrongly may be right
        }
        return false;
    }

    auto wrote_the_rest() -> bool {
        auto writer = LogWriter{file_, mark_};
        for (auto i = mark_.position; i < records; ++i) {
            if (!writer.append(body(static_cast<std::size_t>(i)))) {
                CHECK(writer.append(body(0)).error() == IoError::broken);
                CHECK(writer.sync() == IoError::broken);
                return false;
            }
            if (i % 3 == 1 || i + 1 == records) {
                if (writer.sync()) {
                    CHECK(writer.append(body(0)).error() == IoError::broken);
                    return false;
                }
                acknowledged_ = i + 1;
                CHECK(writer.synced().position == writer.mark().position);
            }
        }
        return true;
    }

    Fault fault_;
    FaultyFile file_;
    LogMark mark_{};
    std::uint64_t acknowledged_ = 0;
};

}  // namespace

TEST_CASE("a fault at each operation loses nothing that was acknowledged") {
    using Named = std::pair<Fault, std::string_view>;
    constexpr auto faults =
        std::array{Named{Fault::error, "error"}, Named{Fault::short_write, "short write"}, Named{Fault::crash, "crash"},
                   Named{Fault::bit_flip, "bit flip"}, Named{Fault::lost_sync, "lost sync"}};
    for (const auto& [fault, name] : faults) {
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
            auto fired = true;
            for (auto at = 1; fired; ++at) {
                CAPTURE(name, seed, at);
                auto campaign = Campaign{fault, at, support::seed() + seed, static_cast<std::size_t>(seed % 5U)};
                const auto finished = campaign.run();
                fired = campaign.fired();
                REQUIRE((finished || fault == Fault::bit_flip));
                REQUIRE((fired || at > 15));
                if (!finished) { continue; }
                // Should the machine stop now, the log is what it would be had nothing happened, unless the disk lied.
                campaign.file().restart();
                const auto all = reading(campaign.file().bytes());
                REQUIRE(are_the_first(all.bodies));
                if (fault == Fault::bit_flip) {
                    REQUIRE((all.fault || all.bodies.size() == records));
                } else if (fault != Fault::lost_sync) {
                    REQUIRE((!all.fault || all.fault->error == LogError::torn_tail));  // the last mark of a sync
                    REQUIRE(all.bodies.size() == records);
                }
            }
        }
    }
}

namespace {

// A thousand logs on disks that forget in this way, once each; they lose nothing and open without a person.
void forgets(Fault fault) {
    auto fired = 0;
    auto missing = 0;
    for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
        const auto at = static_cast<int>(1 + seed % 34U);
        CAPTURE(support::seed() + seed, at);
        auto campaign = Campaign{fault, at, support::seed() + seed, static_cast<std::size_t>(seed % 5U)};
        REQUIRE(campaign.run());
        REQUIRE(campaign.power_lost() == records);
        fired += campaign.fired() ? 1 : 0;
        missing += campaign.file().missing() > 0 ? 1 : 0;
    }
    CHECK(fired > 500);
    CHECK(missing > 250);  // pages were lost indeed
}

}  // namespace

TEST_CASE("a sync that fails and marks pages clean loses nothing that is acknowledged later", "[J1]") {
    forgets(Fault::lost_pages);
}

TEST_CASE("a hole in what was not synced is cut off, and nothing acknowledged with it", "[J2]") {
    forgets(Fault::hole);
}

TEST_CASE("a record of which later pages were written and earlier ones not is cut off", "[J2]") {
    forgets(Fault::out_of_order);
}

TEST_CASE("a bit that flips before the last mark is refused by name and position, and nothing is cut", "[J2]") {
    auto random = std::mt19937_64{support::seed()};
    for (auto seed = 0; seed < 1'000; ++seed) {
        auto file = MemoryFile{};
        auto writer = LogWriter{file};
        auto ends = std::vector<std::size_t>{};
        const auto count = 1 + random() % records;
        for (std::size_t i = 0; i < count; ++i) {
            REQUIRE(writer.append(body(i)) == i);
            ends.push_back(file.bytes.size());
            if (random() % 3 == 0 || i + 1 == count) { REQUIRE_FALSE(writer.sync()); }
        }
        const auto marked = ends.back();
        for (auto i = random() % 4; i > 0; --i) { REQUIRE(writer.append(body(static_cast<std::size_t>(i)))); }
        const auto bit = static_cast<std::size_t>(random() % (8 * marked));
        file.bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8U));
        CAPTURE(support::seed(), seed, bit);
        const auto before = file.bytes;
        const auto mark = allot::recover(file, [](const allot::LogRecord&) {});
        REQUIRE_FALSE(mark);
        REQUIRE(mark.error().error != LogError::torn_tail);
        const auto whole = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), bit / 8) - ends.begin());
        REQUIRE(mark.error().position == whole);
        REQUIRE(mark.error().offset <= bit / 8);
        REQUIRE(file.bytes == before);
    }
}

TEST_CASE("a recovery that is interrupted can be done again", "[J1]") {
    const auto log = unsynced(records);
    for (auto at = 1; at < 60; ++at) {
        auto file = FaultyFile{Fault::crash, at, support::seed()};
        file.bytes().assign(log.file.bytes.begin(), log.file.bytes.end() - 5);  // its last record is torn
        file.keep();
        const auto count = [](const allot::LogRecord&) {};
        auto mark = allot::Result<LogMark, LogFault>{};
        try {
            mark = allot::recover(file, count);
        } catch (const FaultyFile::Crash&) {
            file.restart();
            mark = allot::recover(file, count);
        }
        REQUIRE(mark);
        CHECK(mark->position == records - 1);
        CHECK(mark->bytes == log.ends[records - 1] + 24);  // and a mark
        CHECK(reading(file.bytes()).mark == *mark);
    }
}

TEST_CASE("recovering a log that is whole changes no byte of it", "[J1]") {
    for (const auto count : {std::size_t{0}, std::size_t{1}, records}) {
        auto log = written(count);
        const auto before = log.file.bytes;
        CHECK(allot::recover(log.file, [](const allot::LogRecord&) {}) == log.mark);
        CHECK(log.file.bytes == before);
    }
}

TEST_CASE("each error of a log has a sentence of its own") {
    auto seen = std::vector<std::string_view>{"unknown error"};
    const auto check = [&](std::string_view text) {
        CHECK(std::find(seen.begin(), seen.end(), text) == seen.end());
        seen.push_back(text);
    };
    for (auto number = 1; number <= 8; ++number) { check(message(static_cast<LogError>(number))); }
    for (auto number = 1; number <= 7; ++number) { check(message(static_cast<IoError>(number))); }
    CHECK(message(LogError{9}) == "unknown error");
    CHECK(message(IoError{8}) == "unknown error");
}
