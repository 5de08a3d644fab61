// Checks the laws of an ordered log on the etcd at the addresses given: check_log <prefix> <seed> <HOST:PORT>...
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include <allot/replica/laws/ordered_log.hpp>

#include "ordered_log.hpp"

int main(int argc, char** argv) {
    const auto arguments = std::vector<std::string>{argv + 1, argv + argc};
    auto client = service::etcd::Client{{arguments.begin() + 2, arguments.end()}};
    auto log = service::etcd::OrderedLog{client, arguments[0], 5};  // so that a lane has many pages
    const auto finding = allot::laws::ordered_log(log, std::strtoull(arguments[1].c_str(), nullptr, 10), 600);
    std::cout << finding.value_or("the laws hold") << '\n';
    return finding ? 1 : 0;
}
