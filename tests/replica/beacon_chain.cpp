#include <cstdint>

#include <allot/replica/beacon_chain.hpp>

#include "support/catch.hpp"

namespace beacon_chain_test {

TEST_CASE("each link of a chain is the hash of the next, and the head that of the first") {
    for (const auto length : {1U, 2U, 1'023U, 1'024U, 1'025U, 3'000U}) {
        const auto chain = allot::BeaconChain{allot::Hash256{5, 6}, length};
        CHECK(chain.length() == length);
        auto last = chain.head();
        for (auto round = std::uint64_t{1}; round <= length; round += (length < 10 ? 1 : 97)) {
            CHECK(allot::Sha256{}.bytes(chain.link(round)).finish() == (round == 1 ? last : chain.link(round - 1)));
        }
        CHECK(chain.link(length) == allot::Hash256{5, 6});
    }
}

TEST_CASE("chains of different secrets have different heads") {
    CHECK(allot::BeaconChain{allot::Hash256{1}, 9}.head() != allot::BeaconChain{allot::Hash256{2}, 9}.head());
    CHECK(allot::BeaconChain{allot::Hash256{1}, 9}.head() != allot::BeaconChain{allot::Hash256{1}, 8}.head());
}

}  // namespace beacon_chain_test
