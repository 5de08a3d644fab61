// Checks the laws of an ordered log on the etcd at the addresses given: check_log <prefix> <seed> <HOST:PORT>... And
// that a value is read back as it was packed, and one of a stranger as it is.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <allot/replica/laws/ordered_log.hpp>

#include "ordered_log.hpp"
#include "packed.hpp"

namespace {

auto checked_values() -> std::optional<std::string> {
    using service::etcd::packed, service::etcd::unpacked;
    using Bytes = std::vector<std::uint8_t>;
    const auto as_it_is = [](const std::string& value) { return unpacked(value) == Bytes{value.begin(), value.end()}; };
    for (const auto size : {std::size_t{0}, std::size_t{1}, std::size_t{100'000}}) {
        const auto entry = Bytes(size, 7);
        const auto value = packed(entry);
        if (unpacked(value) != entry) { return "an entry is not read back"; }
        for (std::size_t i = 0; i < value.size(); ++i) {
            if (!as_it_is(value.substr(0, i))) { return "a part of a value is read as an entry"; }
        }
    }
    if (!as_it_is("no frame")) { return "a value that is no frame is changed"; }
    if (!as_it_is(packed(Bytes(std::size_t{5} << 20U)))) { return "a small value fills the memory"; }
    return std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
    const auto arguments = std::vector<std::string>{argv + 1, argv + argc};
    auto client = service::etcd::Client{{arguments.begin() + 2, arguments.end()}};
    auto log = service::etcd::OrderedLog{client, arguments[0], 5};  // so that a lane has many pages
    if (const auto finding = checked_values()) {
        std::cout << *finding << '\n';
        return 1;
    }
    const auto finding = allot::laws::ordered_log(log, std::strtoull(arguments[1].c_str(), nullptr, 10), 600);
    std::cout << finding.value_or("the laws hold") << '\n';
    return finding ? 1 : 0;
}
