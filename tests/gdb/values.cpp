// One value of each type that cmake/allot_gdb.py prints. script.gdb stops at the line that is marked and prints them.
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <allot/core/command.hpp>
#include <allot/core/events.hpp>
#include <allot/core/held_models.hpp>
#include <allot/core/list.hpp>
#include <allot/core/moment.hpp>
#include <allot/core/score.hpp>
#include <allot/core/weight.hpp>
#include <allot/store/interner.hpp>
#include <allot/store/pages.hpp>
#include <allot/store/table.hpp>

namespace {

using namespace allot;

using Command = basic_command<std::variant<Ratio>>;
struct LengthHash {
    auto operator()(const std::string& text) const -> std::uint64_t { return std::uint64_t{text.size()} << 40U; }
};
using Names = Interner<std::string, LengthHash>;
using Leases = Table<LeaseHandle, LeaseRecord>;
using Nodes = NamedTable<NodeHandle, Node>;

/// What a debugger is asked about before a constructor has run: bytes that no constructor makes.
template <class T>
auto uninitialised() -> const T* {
    alignas(T) static auto bytes = std::array<unsigned char, sizeof(T)>{};
    std::memset(bytes.data(), 0xA5, sizeof(T));
    return reinterpret_cast<const T*>(bytes.data());
}

auto stop() -> void {}

}  // namespace

auto main() -> int {
    const auto id_text = NodeId{"relay-7"};
    const auto id_quoted = NodeId{"say \"7\""};
    const auto id_number = TaskId{std::uint64_t{1} << 40U};
    const auto id_bytes = TaskId{TaskId::Bytes{1, 2, 3}};
    const auto id_null = OwnerId::null();

    const auto number = u128::max();
    const auto amount = Amount{u128{1} << 90};
    const auto score = Score::from_ratio(7, 8);
    const auto weight = Weight::from_ratio(31, 3);
    const auto worth = Value{10, 3};
    const auto root = StakeRoot::from(2);
    const auto root_zero = StakeRoot{};
    const auto card = Gibibytes{24};
    const auto version = SoftwareVersion{2, 5, 1};

    const auto length = Duration{1'500};
    const auto instant = TimePoint{Duration{20'000}};
    const auto no_instant = never;
    const auto seed = Entropy{2026};
    const auto beacon = Entropy{std::array<std::uint64_t, 4>{1, 2, 3, 0xFFU << 24U}};
    const auto moment = Moment{instant, beacon, 77};
    const auto moment_alone = Moment{instant, {}, {}};

    const auto handle = NodeHandle{3};
    const auto handle_none = no_handle<LeaseHandle>;
    const auto name = Name{"sdxl-\xC3\xA9 \x1B[31m"};
    auto list = List<NodeHandle>{NodeHandle{1}, no_handle<NodeHandle>};
    const auto list_empty = List<std::string>{};
    const auto words = List<std::string>{"fast", "green"};
    const auto models = HeldModels{{ModelId{1}, Holding::in_use, 5}, {ModelId{2}, Holding::on_disk, 6}};
    auto models_timed = models;
    models_timed.set_until(1, TimePoint{std::chrono::milliseconds{20'000}});
    const auto models_none = HeldModels{};

    const auto lease = Lease{.task = 7, .node = "relay-7", .token = 12, .deadline = instant};
    const auto started = Event{event::TaskStarted{lease, OwnerId{"alice"}}};
    const auto queued = Event{event::TaskQueued{.task = 8, .deadline = instant}};
    const auto refused = event::Refused{Error::node_unknown};
    auto events = Events{};
    events.push(queued);
    events.begin_answer();
    events.push(started);
    events.push(event::Advanced{instant});
    auto many = Events{};
    for (auto i = 0; i < 6; ++i) { many.push(event::NodePaused{i}); }

    const auto join =
        Command{command::Join{{.id = "relay-7", .gpu = "RTX 4090", .vram = card, .stake = 400, .models = {"sdxl"}}}};
    const auto match = Command{command::Match{}};
    const auto configure = Command{command::Configure<std::variant<Ratio>>{Ratio{3, 4}, 2}};
    const auto update = Command{command::Update{{.id = 7, .stake = Amount{500}}}};

    auto pages = Pages<Amount, 2>{};
    pages.ensure(5);
    pages[2] = 5;
    auto leases = Leases{};
    auto nodes = Nodes{SipKey{1, 2}};
    for (auto i = std::uint32_t{0}; i < 70; ++i) {  // more than one word of slots
        leases.create(LeaseHandle{i}, LeaseRecord{.token = i});
    }
    for (auto i = std::uint32_t{1}; i < 69; ++i) {
        auto gone = std::optional<LeaseRecord>{};
        leases.destroy(LeaseHandle{i}, gone);
    }
    auto relay = Node{.id = "relay-7"};
    relay.staked(400);
    relay.rest.made().labels.push_back("fast");
    nodes.create(NodeHandle{0}, std::move(relay));
    nodes.create(NodeHandle{1}, Node{.id = 8});
    const auto no_leases = Leases{};
    auto names = Names{};
    names.acquire(names.intern("sdxl"));
    names.intern("llama");

    const auto* bad_id = uninitialised<NodeId>();
    const auto* bad_root = uninitialised<StakeRoot>();
    const auto* bad_name = uninitialised<Name>();
    const auto* bad_list = uninitialised<List<std::string>>();
    const auto* bad_rest = uninitialised<Rare<NodeRest>>();
    const auto* bad_lease = uninitialised<Lease>();
    const auto* bad_moment = uninitialised<Moment>();
    const auto* bad_event = uninitialised<Event>();
    const auto* bad_command = uninitialised<Command>();
    const auto* bad_events = uninitialised<Events>();
    const auto* bad_pages = uninitialised<Pages<Amount, 2>>();
    const auto* bad_table = uninitialised<Leases>();
    const auto* bad_names = uninitialised<Names>();
    const auto words_gone = std::uint64_t{8};  // its counts are at the address 8
    const auto* bad_elements = reinterpret_cast<const List<std::string>*>(&words_gone);
    stop();  // here gdb stops
}
