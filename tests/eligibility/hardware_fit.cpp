#include <allot/eligibility/hardware_fit.hpp>

#define ALLOT_MODEL allot::HardwareFit
#include "conformance/pure.ipp"

namespace {

using allot::GpuChoice;
using allot::NodeClass;
using allot::Reason;
using allot::Requirement;
using allot::SoftwareVersion;

auto fits(const NodeClass& node_class, const Requirement& requirement) -> Reason {
    return allot::HardwareFit{}.fits(node_class, requirement);
}
auto card(const char* gpu, std::uint32_t vram) -> NodeClass { return {gpu, {vram}, "", {}}; }
auto least(std::uint32_t vram) -> Requirement { return {{vram}}; }
auto listed(std::vector<GpuChoice> gpus, std::uint32_t vram = 0) -> Requirement { return {{vram}, std::move(gpus)}; }

}  // namespace

TEST_CASE("without a list of cards every card with enough VRAM fits") {
    CHECK(fits(card("RTX 4090", 24), least(24)) == Reason::none);
    CHECK(fits(card("RTX 4090", 24), least(8)) == Reason::none);
    CHECK(fits(card("RTX 4080", 16), least(17)) == Reason::vram_too_small);
}

TEST_CASE("a task that lists a card takes exactly that name and VRAM") {
    const auto a100 = listed({{"A100", {40}}});
    CHECK(fits(card("A100", 40), a100) == Reason::none);
    CHECK(fits(card("RTX 4090", 24), a100) == Reason::gpu_differs);
    CHECK(fits(card("A100", 80), a100) == Reason::gpu_differs);
    CHECK(fits(card("a100", 40), a100) == Reason::gpu_differs);
}

TEST_CASE("the least VRAM does not count for a card listed with its own") {
    CHECK(fits(card("RTX 3080", 10), listed({{"RTX 3080", {10}}}, 24)) == Reason::none);
}

TEST_CASE("a card listed by name alone fits from the least VRAM on") {
    const auto any_a100 = listed({{"A100", {}}}, 48);
    CHECK(fits(card("A100", 80), any_a100) == Reason::none);
    CHECK(fits(card("A100", 48), any_a100) == Reason::none);
    CHECK(fits(card("A100", 40), any_a100) == Reason::gpu_differs);
}

TEST_CASE("any of several cards will do") {
    const auto cards = listed({{"A100", {40}}, {"H100", {}}, {"RTX 4090", {24}}}, 16);
    CHECK(fits(card("RTX 4090", 24), cards) == Reason::none);
    CHECK(fits(card("H100", 80), cards) == Reason::none);
    CHECK(fits(card("A100", 80), cards) == Reason::gpu_differs);
}

TEST_CASE("a card listed with several sizes of VRAM fits by each of them") {
    const auto sizes = listed({{"A100", {40}}, {"A100", {80}}, {"H100", {80}}});
    CHECK(fits(card("A100", 40), sizes) == Reason::none);
    CHECK(fits(card("A100", 80), sizes) == Reason::none);
    CHECK(fits(card("A100", 60), sizes) == Reason::gpu_differs);
    CHECK(fits(card("A10", 80), sizes) == Reason::gpu_differs);
    CHECK(fits(card("B200", 80), sizes) == Reason::gpu_differs);
    CHECK(fits(card("Z1", 80), sizes) == Reason::gpu_differs);
}

TEST_CASE("the platform is one of those accepted, and none listed accepts any") {
    auto requirement = least(8);
    const auto darwin = NodeClass{"M3 Max", {48}, "Darwin", {}};
    const auto linux_node = NodeClass{"RTX 4090", {24}, "Linux", {}};
    CHECK(fits(darwin, requirement) == Reason::none);
    requirement.platforms = {"Linux", "Windows"};
    CHECK(fits(darwin, requirement) == Reason::platform_refused);
    CHECK(fits(linux_node, requirement) == Reason::none);
    CHECK(fits(card("RTX 4090", 24), requirement) == Reason::platform_refused);  // a node that says nothing
}

TEST_CASE("the software is of the same major version and not older") {
    auto requirement = least(8);
    requirement.software = SoftwareVersion{3, 1, 2};
    const auto runs = [&](SoftwareVersion version) { return fits({"RTX 4090", {24}, "", version}, requirement); };
    CHECK(runs({3, 1, 2}) == Reason::none);
    CHECK(runs({3, 2, 0}) == Reason::none);
    CHECK(runs({3, 1, 1}) == Reason::version_too_old);
    CHECK(runs({2, 9, 9}) == Reason::version_too_old);
    CHECK(runs({4, 0, 0}) == Reason::version_too_old);
    CHECK(fits({"RTX 4090", {24}, "", {1, 0, 0}}, least(8)) == Reason::none);
}

TEST_CASE("the card is judged before the platform and the platform before the version") {
    const auto requirement = Requirement{{48}, {}, {"Linux"}, {}, SoftwareVersion{9, 0, 0}};
    CHECK(fits({"RTX 4090", {24}, "Darwin", {}}, requirement) == Reason::vram_too_small);
    CHECK(fits({"A100", {80}, "Darwin", {}}, requirement) == Reason::platform_refused);
    CHECK(fits({"A100", {80}, "Linux", {}}, requirement) == Reason::version_too_old);
}

TEST_CASE("an avoided node and one of a member's operator are refused") {
    const auto node_class = card("RTX 4090", 24);
    const auto requirement = least(8);
    const auto admits = [&](bool avoided, bool same_operator) {
        return allot::HardwareFit{}.admits({}, {}, {{}, node_class, requirement, avoided, same_operator});
    };
    CHECK(admits(false, false) == Reason::none);
    CHECK(admits(true, false) == Reason::avoided);
    CHECK(admits(false, true) == Reason::same_operator);
    CHECK(admits(true, true) == Reason::avoided);
}
