// Runs one of the offered workloads so many operations long, for callgrind to count: `instructions NAME SIZE
// OPERATIONS`. `instructions --key` says what the counts depend on besides the library.

#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/offer.hpp"
#include "support/toolchain.hpp"

auto main(int argc, char** argv) -> int {
    if (argc == 2 && std::string{argv[1]} == "--key") {
        std::puts(bench::toolchain().c_str());
        return 0;
    }
    if (argc == 4) {
        for (const auto& offer : bench::offers()) {
            if (offer.name == argv[1]) {
                (void)offer.build(std::strtoull(argv[2], nullptr, 10))(std::strtoull(argv[3], nullptr, 10));
                return 0;
            }
        }
    }
    std::fprintf(stderr, "usage: instructions NAME SIZE OPERATIONS | --key\n");
    for (const auto& offer : bench::offers()) { std::fprintf(stderr, "  %s\n", offer.name.c_str()); }
    return 2;
}
