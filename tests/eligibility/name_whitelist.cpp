#include <allot/eligibility/all_of.hpp>
#include <allot/eligibility/hardware_fit.hpp>
#include <allot/eligibility/name_whitelist.hpp>
#include <allot/laws/pure.hpp>

#include "support/catch.hpp"
#include "support/seed.hpp"

namespace {

using namespace allot::literals;
using allot::NameWhitelist;
using allot::NodeClass;
using allot::Reason;

const auto listed =
    NameWhitelist{{.names = {{"A100", 40_GiB, "", {1, 0, 0}}, {"RTX 4090", 24_GiB, "Linux", {1, 0, 0}}}}};

auto fits(const NameWhitelist& policy, const NodeClass& node_class) -> Reason { return policy.fits(node_class, {}); }

}  // namespace

TEST_CASE("only listed kinds of nodes fit: card, VRAM, version and platform alike") {
    CHECK(fits(listed, {"A100", 40_GiB, "", {1, 0, 0}}) == Reason::none);
    CHECK(fits(listed, {"RTX 4090", 24_GiB, "Linux", {1, 0, 0}}) == Reason::none);
    for (const auto& other : {NodeClass{"A100", 80_GiB, "", {1, 0, 0}}, NodeClass{"A100", 40_GiB, "", {1, 0, 1}},
                              NodeClass{"A100", 40_GiB, "Linux", {1, 0, 0}}, NodeClass{"H100", 40_GiB, "", {1, 0, 0}},
                              NodeClass{"RTX 4090", 24_GiB, "", {1, 0, 0}}}) {
        CHECK(fits(listed, other) == Reason::name_policy);
    }
}

TEST_CASE("an empty whitelist keeps nobody out") {
    CHECK(fits(NameWhitelist{}, {"anything", 1_GiB, "", {}}) == Reason::none);
}

TEST_CASE("a whitelist can be changed, and stands behind what hardware says") {
    auto policy = NameWhitelist{};
    policy.configure(listed.parameters());
    CHECK(policy.parameters() == listed.parameters());
    CHECK(fits(policy, {"H100", 80_GiB, "", {}}) == Reason::name_policy);
    const auto both = allot::AllOf{allot::HardwareFit{}, listed};
    CHECK(both.fits({"H100", 8_GiB, "", {}}, {16_GiB}) == Reason::vram_too_small);
    CHECK(both.fits({"H100", 16_GiB, "", {}}, {16_GiB}) == Reason::name_policy);
}
