// Cold cache lines of a pair of commands, by structure: `cold_lines NODES` prints `workload  structure  lines`.
//
// At a million nodes the caches of the model are those of the machine that DESIGN was measured on; with fewer nodes
// they are as much smaller, so that as much of the records fits into them. A line that was prefetched counts as cold:
// what is counted is which lines a pair needs, and not how long it waits for them.
//
// It reads where each structure lies out of the dispatcher's private members, for which the compiler is told not to
// check access (-fno-access-control).

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <allot/queue/flat_queue.hpp>
#include <allot/queue/value_queue.hpp>

#include "contestant/hub_of_allot.hpp"
#include "support/memory_watch.hpp"
#include "support/toolchain.hpp"
#include "workload/dispatching.hpp"

namespace bench { namespace {

/// Which structure has an address.
class Places {
public:
    void add(std::string_view structure, const void* memory, std::size_t bytes) {
        const auto begin = reinterpret_cast<std::uintptr_t>(memory);
        places_[begin] = {begin + bytes, structure};
    }
    template <class T>
    void add(std::string_view structure, const std::vector<T>& elements) {
        add(structure, elements.data(), elements.capacity() * sizeof(T));
    }
    template <class T, std::uint32_t page_size>
    void add(std::string_view structure, const allot::Pages<T, page_size>& pages) {
        add(structure, pages.pages_);
    }
    template <class T, std::uint32_t page_size>
    void add(std::string_view structure, const allot::Column<T, page_size>& column) {
        add(structure, column.pages_);
    }
    template <class T, std::size_t page_size>
    void add(std::string_view structure, const allot::detail::PageList<T, page_size>& list) {
        add("tables", list.pages_);
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (list[i] != nullptr) { add(structure, list[i], page_size * sizeof(T)); }
        }
    }
    template <class T, std::uint32_t front, std::uint32_t page_size>
    void add(std::string_view structure, const allot::SplitVector<T, front, page_size>& elements) {
        add(structure, elements.first_);
        add(structure, elements.more_);
    }
    template <class H, class Record, std::size_t alignment>
    void add(std::string_view structure, const allot::Table<H, Record, alignment>& table) {
        add(structure, table.records_);
        add("slot sets", table.taken_);
    }
    void add(std::string_view structure, const allot::HandleMap& map) {
        add(structure, map.now_.items.get(), map.now_.room * 64);
        if (map.moving_ != nullptr) {
            add("id maps: former places", map.moving_->old.items.get(), map.moving_->old.room * 64);
        }
    }
    void add(std::string_view structure, const allot::SlotSet& set) {
        for (const auto& words : set.levels_) { add(structure, words); }
    }
    void add(std::string_view structure, const allot::ValueQueue& queue) {
        for (const auto& block : queue.entries_.all_->pool.blocks_) {
            add(structure, block.memory.get(), block_size(block.memory.get()));
        }
    }
    void add(std::string_view structure, const allot::FlatQueue& queue) {
        add(structure, queue.entries_.blocks_);
        add(structure, queue.entries_.states_);
    }

    [[nodiscard]] auto structure_at(std::uintptr_t address) const -> std::string {
        const auto behind = places_.upper_bound(address + 63);  // a line may begin before the structure
        if (behind == places_.begin() || std::prev(behind)->second.end <= address) { return "other"; }
        return std::string{std::prev(behind)->second.structure};
    }

private:
    struct Place {
        std::uintptr_t end;
        std::string_view structure;
    };
    std::map<std::uintptr_t, Place> places_;  // by beginning
};

template <class Hub>
auto places_of(const Hub& hub) -> Places {
    const auto& view = hub.view_;
    const auto& records = view.records;
    auto places = Places{};
    places.add("node records", records.nodes_);
    places.add("task records", records.tasks_);
    places.add("lease records", records.leases_);
    places.add("holdings", records.holdings_.lists_);
    places.add("id map of nodes", records.nodes_.names_);
    places.add("id map of tasks", records.tasks_.names_);
    for (const auto& tree : records.due_.trees_) {
        places.add("due tree: times", tree.lines);
        for (const auto& level : tree.upper) { places.add("due tree: firsts", level); }
    }
    for (const auto& tree : view.pool.candidates_.trees_.first_) {
        places.add("sum trees: leaves", tree.blocks_);
        places.add("sum trees: sums", tree.lines_);
    }
    places.add("queue", view.queue);
    return places;
}

/// Prints the cold lines a pair of each structure, and of all.
template <class Queue>
void count(const char* workload, std::size_t nodes, Regime regime, Feed feed) {
    auto dispatching = Dispatching<HubOfAllot<Queue>>{nodes, regime};
    const auto part = [nodes](std::size_t of) { return static_cast<std::size_t>(of * nodes / 1'000'000); };
    set_caches({CacheSize{part(48U << 10U), 12}, CacheSize{part(2U << 20U), 16}});
    const auto pairs = [&](std::size_t operations, Watch what) {
        watch(Watch::on);
        dispatching.run(operations, feed, [what](auto&& work) {
            watch(what);
            work();
            watch(Watch::on);
        });
        watch(Watch::off);
    };
    constexpr auto operations = std::size_t{4'096};
    pairs(operations, Watch::on);  // fills the caches
    pairs(operations, Watch::counted);
    const auto places = places_of(dispatching.hub().hub());
    auto lines = std::map<std::string, std::size_t>{};
    for (const auto address : take_cold_lines()) {
        ++lines[places.structure_at(address)];
        ++lines["all"];
    }
    for (const auto& [structure, number] : lines) {
        std::printf("%s\t%s\t%.2f\n", workload, structure.c_str(), static_cast<double>(number) / operations);
    }
}

}}  // namespace bench

auto main(int argc, char** argv) -> int {
    if (argc == 2 && std::string_view{argv[1]} == "--key") {
        std::puts(bench::toolchain().c_str());
        return 0;
    }
    const auto nodes = argc == 2 ? std::strtoull(argv[1], nullptr, 10) : 0;
    if (nodes < 100'000) {
        std::fprintf(stderr, "usage: cold_lines NODES | --key, with 100,000 nodes at least\n");
        return 2;
    }
    using bench::Feed, bench::Regime;
    bench::count<allot::ValueQueue>("idle", nodes, Regime::idle, Feed::one_by_one);
    bench::count<allot::ValueQueue>("idle, span", nodes, Regime::idle, Feed::span);
    bench::count<allot::ValueQueue>("saturated, ValueQueue", nodes, Regime::saturated, Feed::one_by_one);
    bench::count<allot::FlatQueue>("saturated, FlatQueue", nodes, Regime::saturated, Feed::one_by_one);
    return 0;
}
