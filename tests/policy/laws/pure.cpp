#include <cstdint>
#include <string>

#include <allot/policy/archetype.hpp>
#include <allot/policy/laws/pure.hpp>

#include "support/catch.hpp"

namespace {

namespace archetype = allot::archetype;
namespace laws = allot::laws;

auto says(const laws::Finding& finding, const std::string& part) -> bool {
    UNSCOPED_INFO(finding.value_or("nothing"));
    return finding.value_or("nothing").find(part) != std::string::npos;
}

struct Alternates {
    mutable std::uint32_t calls = 0;
    auto turn() const -> bool { return ++calls % 3 == 0; }
};
struct MoodyFit : archetype::Eligibility, Alternates {
    auto fits(const allot::NodeClass&, const allot::Requirement&) const -> allot::Reason {
        return turn() ? allot::Reason::gpu_differs : allot::Reason::none;
    }
};
struct MoodyAdmission : archetype::Eligibility, Alternates {
    auto admits(const allot::Node&, const allot::Task&, const allot::Situation&) const -> allot::Reason {
        return turn() ? allot::Reason::avoided : allot::Reason::none;
    }
};
struct MoodyPlacement : archetype::Placement, Alternates {
    auto wanted(const allot::ModelDemand&) const -> allot::Wanted { return {turn() ? 1U : 0U}; }
};
struct AsksAtOnce : archetype::Placement {
    auto asked_for() const -> allot::Duration { return {}; }
};
struct MoodyValue : archetype::Valuation, Alternates {
    auto value(const allot::Task&, const allot::Requirement&) const -> allot::Value { return {turn() ? 1U : 0U}; }
};
struct NoTime : archetype::Terms {
    auto length(const allot::Node&, const allot::Task& task) const -> allot::Duration { return task.duration_estimate / 2; }
    auto length_max(const allot::Node&, const allot::Task& task) const -> allot::Duration { return task.duration_estimate; }
};
struct NoPatience : archetype::Terms {
    auto patience(const allot::Task&) const -> allot::Duration { return {}; }
};
struct TooLong : archetype::Terms {
    auto length(const allot::Node&, const allot::Task&) const -> allot::Duration { return std::chrono::seconds{2}; }
};
struct MoodyTerms : archetype::Terms, Alternates {
    auto after(const allot::Task&, allot::OutcomeKind) const -> allot::Next {
        return turn() ? allot::Next::retry : allot::Next::end;
    }
};

}  // namespace

TEST_CASE("what is pure yields no finding") {
    CHECK(!laws::pure(archetype::Eligibility{}));
    CHECK(!laws::pure(archetype::Placement{}));
    CHECK(!laws::rational(archetype::Valuation{}));
    CHECK(!laws::positive(archetype::Terms{}));
}

TEST_CASE("a policy that answers differently the next time is found") {
    CHECK(says(laws::pure(MoodyFit{}), "fits is not pure"));
    CHECK(says(laws::pure(MoodyAdmission{}), "admits is not pure"));
    CHECK(says(laws::pure(MoodyPlacement{}), "wanted is not pure"));
    CHECK(says(laws::rational(MoodyValue{}), "value is not pure"));
    CHECK(says(laws::positive(MoodyTerms{}), "terms are not pure"));
}

TEST_CASE("a request that lapses at once is found") { CHECK(says(laws::pure(AsksAtOnce{}), "lapses as soon")); }

TEST_CASE("terms without time are found") {
    CHECK(says(laws::positive(NoTime{}), "a lease of 0 ms"));
    CHECK(says(laws::positive(NoPatience{}), "a wait of 0 ms"));
    CHECK(says(laws::positive(TooLong{}), "may last 1000 ms"));
}
