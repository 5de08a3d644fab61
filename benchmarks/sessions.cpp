// sessions COUNT ROOTS: for callgrind, which counts compressions; a root after each of so many requests, beside so many
// client sessions. benchmarks/roots.sh counts.

#include <cstdint>
#include <cstdlib>

#include <allot/replica/client_table.hpp>
#include <allot/replica/parameters.hpp>

auto main(int argc, char** argv) -> int {
    const auto number = [&](int i) { return argc > i ? std::strtoull(argv[i], nullptr, 10) : 1'000; };
    const auto count = number(1);
    const auto roots = number(2);
    auto parameters = allot::ReplicaParameters{};
    parameters.sessions_max = allot::ReplicaParameters::sessions_limit;
    auto table = allot::ClientTable{};
    auto index = std::uint64_t{0};
    for (std::uint64_t i = 1; i <= count; ++i) {
        table.begin();
        (void)table.open({allot::SessionId{i}, allot::ClientId{i}, {}}, parameters, allot::TimePoint{}, ++index);
    }
    (void)table.root();
    for (std::uint64_t i = 0; i < roots; ++i) {
        const auto session = allot::SessionId{i * 7'919 % count + 1};
        table.begin();
        table.answer(session, {table.find(session)->last.seq + 1, ++index, {}}, parameters, allot::TimePoint{});
        (void)table.root();
    }
}
