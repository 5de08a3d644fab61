#include <allot/eligibility/all_of.hpp>
#include <allot/eligibility/hardware_fit.hpp>

namespace {

constexpr auto of_my_own = allot::Reason{65};

/// Refuses labels and classes of one's own, and counts how often it was asked.
struct Picky {
    using role = allot::role::eligibility;
    int* asked = nullptr;

    auto fits(const allot::NodeClass& node_class, const allot::Requirement&) const -> allot::Reason {
        count();
        return node_class.gpu == "GPU 0" ? of_my_own : allot::Reason::none;
    }
    auto admits(const allot::Node& node, const allot::Task&, const allot::Situation&) const -> allot::Reason {
        count();
        return node.labels().empty() ? of_my_own : allot::Reason::none;
    }
    void count() const {
        if (asked != nullptr) { ++*asked; }
    }
};
using Both = allot::AllOf<allot::HardwareFit, Picky>;

}  // namespace

#define ALLOT_MODEL Both
#include "conformance/pure.ipp"

TEST_CASE("all policies must agree that a class fits") {
    const auto both = allot::AllOf{allot::HardwareFit{}, Picky{}};
    CHECK(both.fits({"GPU 1", {24}, "", {}}, {{8}}) == allot::Reason::none);
    CHECK(both.fits({"GPU 0", {24}, "", {}}, {{8}}) == of_my_own);
    CHECK(both.fits({"GPU 1", {4}, "", {}}, {{8}}) == allot::Reason::vram_too_small);
}

TEST_CASE("the first reason counts, and nobody is asked after it") {
    auto asked = 0;
    const auto hardware_first = allot::AllOf{allot::HardwareFit{}, Picky{&asked}};
    CHECK(hardware_first.fits({"GPU 0", {4}, "", {}}, {{8}}) == allot::Reason::vram_too_small);
    CHECK(asked == 0);
    const auto mine_first = allot::AllOf{Picky{&asked}, allot::HardwareFit{}};
    CHECK(mine_first.fits({"GPU 0", {4}, "", {}}, {{8}}) == of_my_own);
    CHECK(asked == 1);
}

TEST_CASE("all policies must admit the node itself") {
    const auto both = allot::AllOf{allot::HardwareFit{}, Picky{}};
    const auto node_class = allot::NodeClass{};
    const auto requirement = allot::Requirement{};
    auto node = allot::Node{};
    CHECK(both.admits(node, {}, {{}, node_class, requirement, false, false}) == of_my_own);
    CHECK(both.admits(node, {}, {{}, node_class, requirement, true, false}) == allot::Reason::avoided);
    node.rest.made().labels = {"mine"};
    CHECK(both.admits(node, {}, {{}, node_class, requirement, false, false}) == allot::Reason::none);
}

TEST_CASE("of no policies everything fits") {
    const auto none = allot::AllOf<>{};
    CHECK(none.fits({}, {{8}}) == allot::Reason::none);
    CHECK(allot::eligibility<allot::AllOf<>>);
}

TEST_CASE("a composition can be composed again") {
    const auto nested = allot::AllOf{allot::AllOf{allot::HardwareFit{}, Picky{}}, allot::HardwareFit{}};
    CHECK(nested.fits({"GPU 0", {24}, "", {}}, {{8}}) == of_my_own);
}
