#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <allot/allot.hpp>
#include <allot/journal/basic_store.hpp>
#include <allot/journal/encode.hpp>
#include <allot/replica/ordered_log.hpp>

#include "support/memory_folder.hpp"

namespace support {

struct Proposal {
    allot::ReplicaId proposer = 0;
    std::uint64_t nonce = 0;
    std::vector<std::uint8_t> bytes{};
};
ALLOT_FIELDS(Proposal, proposer, nonce, bytes)

/// The place of a proposal whose record may be gone.
struct Placed {
    allot::ReplicaId proposer = 0;
    std::uint64_t nonce = 0;
    std::uint64_t position = 0;
};
ALLOT_FIELDS(Placed, proposer, nonce, position)

/// The machine of a store that only remembers where each proposal is.
class Places {
public:
    using Dispatcher = allot::Dispatcher<>;

    auto dispatcher() const -> const Dispatcher& { return none_; }
    auto composed() const -> Dispatcher { return {}; }
    auto embedded() const -> allot::EmbeddedSection {
        auto all = std::vector<Placed>{};
        for (const auto& [id, position] : known) { all.push_back({id.first, id.second, position}); }
        return {"places", allot::encode(all)};
    }
    auto load(allot::Loaded<Dispatcher> loaded) -> bool {
        const auto all = allot::decode<std::vector<Placed>>(loaded.embedded.bytes);
        if (!all) { return false; }
        for (const auto& one : *all) { known[{one.proposer, one.nonce}] = one.position; }
        return true;
    }
    auto replay(std::uint64_t position, std::span<const std::uint8_t> record) -> bool {
        const auto proposal = allot::decode<Proposal>(record);
        if (proposal) { known[{proposal->proposer, proposal->nonce}] = position + 1; }
        return proposal.has_value();
    }

    std::map<std::pair<allot::ReplicaId, std::uint64_t>, std::uint64_t> known{};

private:
    Dispatcher none_{};
};

/// An ordered log in the files of a store, which is opened again after each crash. A position is that of a record + 1.
///
/// `Reader` reads the names and files of the folder while the store has it open.
template <class Folder, class Reader>
class FileOrderedLog {
    template <class T>
    using Result = allot::Result<T, allot::OrderedLogError>;
    using Store = allot::BasicStore<Places, Folder>;

public:
    /// `open` gives the folder, as it is after a crash; `write` is called before each write.
    FileOrderedLog(
        std::function<Folder()> open, Reader reader, std::function<void()> write = [] {})
        : open_{std::move(open)}, reader_{std::move(reader)}, write_{std::move(write)} {
        restart();
    }

    auto append(allot::ReplicaId proposer, std::uint64_t nonce, std::span<const std::uint8_t> bytes)
        -> Result<std::uint64_t> {
        return unless_it_stops([&]() -> std::optional<std::uint64_t> {
            write_();
            const auto known = store_->machine().known.find({proposer, nonce});
            if (known != store_->machine().known.end()) { return known->second; }
            const auto record = allot::encode(Proposal{proposer, nonce, {bytes.begin(), bytes.end()}});
            const auto position = store_->append(record);
            if (!position || !store_->machine().replay(*position, record) || store_->sync()) { return std::nullopt; }
            return *position + 1;
        });
    }

    auto read(std::uint64_t after, std::size_t count_max) -> Result<std::vector<allot::LoggedEntry>> {
        auto is_dropped = false;
        auto page = unless_it_stops([&]() -> std::optional<std::vector<allot::LoggedEntry>> {
            auto entries = std::vector<allot::LoggedEntry>{};
            auto names = reader_.names();
            if (!names) { return std::nullopt; }
            std::erase_if(*names, [](const auto& name) { return !name.starts_with("log-"); });
            std::sort(names->begin(), names->end());
            auto next = std::uint64_t{0};
            for (const auto& name : *names) {
                auto file = reader_.to_read(name);
                if (!file) { return std::nullopt; }
                auto reader = allot::LogReader<typename Folder::File>{*file};
                while (const auto record = reader.next()) {
                    if (record->position != next) {  // what comes before was dropped, or is left of it after a crash
                        is_dropped = record->position > after;
                        entries.clear();
                    }
                    next = record->position + 1;
                    if (next <= after || entries.size() == count_max) { continue; }
                    entries.push_back({next, allot::decode<Proposal>(record->body)->bytes});
                }
                // A crash may have torn the mark of the last sync, behind all records.
                if (reader.fault() && reader.fault()->error != allot::LogError::torn_tail) { return std::nullopt; }
            }
            return entries;
        });
        if (is_dropped) { return allot::FailureOf<allot::OrderedLogError>{allot::OrderedLogError::compacted}; }
        return page;
    }

    /// A snapshot drops all segments before the one that was the last so far.
    auto compact(std::uint64_t through) -> std::optional<allot::OrderedLogError> {
        const auto done = unless_it_stops([&]() -> std::optional<bool> {
            write_();
            const auto& all = store_->snapshots();
            if (!all.empty() && all.back() > through) { return true; }
            if (store_->checkpoint()) { return std::nullopt; }
            store_->finish_checkpoint();
            ++compactions_;
            return true;
        });
        return done ? std::nullopt : std::optional{done.error()};
    }

    [[nodiscard]] auto compactions() const -> int { return compactions_; }
    [[nodiscard]] auto restarts() const -> int { return restarts_; }

private:
    template <class Call>
    auto unless_it_stops(const Call& call) -> Result<typename std::invoke_result_t<Call>::value_type> {
        try {
            if (auto done = call()) { return *std::move(done); }
        } catch (const MemoryDisk::Crash&) {}
        restart();
        return allot::FailureOf<allot::OrderedLogError>{allot::OrderedLogError::unavailable};
    }
    void restart() {
        store_.reset();
        while (!store_) {
            try {
                ++restarts_;
                auto opened = Store::open(open_(), Places{}, {0});
                if (!opened) { throw std::runtime_error{std::string{message(opened.error().error)}}; }
                store_.emplace(*std::move(opened));
            } catch (const MemoryDisk::Crash&) {}
        }
    }

    std::function<Folder()> open_;
    Reader reader_;
    std::function<void()> write_;
    std::optional<Store> store_{};
    int compactions_ = 0;
    int restarts_ = -1;
};

}  // namespace support
