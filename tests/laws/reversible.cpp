#include <cstdint>
#include <memory>
#include <string>

#include <allot/laws/reversible.hpp>
#include <allot/policy/archetype.hpp>
#include <allot/pool/gpu_group_pool.hpp>
#include <allot/pool/linear_pool.hpp>

#include "support/catch.hpp"

namespace {

using allot::Draw;
using allot::GpuGroupPool;
using allot::NodePlace;
using allot::Random;
using allot::SamplingFrame;

auto finding(const auto& pool) -> std::string { return allot::laws::reversible(pool, 3).value_or("nothing"); }
auto says(const std::string& text, const std::string& part) -> bool {
    UNSCOPED_INFO(text);
    return text.find(part) != std::string::npos;
}

/// A lawful pool, to be spoilt in one thing.
struct Lawful {
    GpuGroupPool pool{};

    void changed(const NodePlace& before, const NodePlace& after) { pool.changed(before, after); }
    template <class Weigh>
    auto draw(const SamplingFrame& frame, const Weigh& weigh, Random& random) const -> std::optional<Draw> {
        return pool.draw(frame, weigh, random);
    }
    auto count(const SamplingFrame& frame) const -> std::uint32_t { return pool.count(frame); }
};

struct IgnoresPriorState : Lawful {
    void changed(const NodePlace&, const NodePlace& after) { pool.changed(after, after); }
};
struct ForgetsModels : Lawful {
    void changed(NodePlace before, NodePlace after) {
        before.models = after.models;
        pool.changed(before, after);
    }
};
struct CountsOneTooMany : Lawful {
    auto count(const SamplingFrame& frame) const -> std::uint32_t {
        return pool.count(frame) + (frame.models.size() == 3 ? 1U : 0U);
    }
};
struct DrawsAnotherWord : Lawful {
    template <class Weigh>
    auto draw(const SamplingFrame& frame, const Weigh& weigh, Random& random) const -> std::optional<Draw> {
        const auto drawn = pool.draw(frame, weigh, random);
        (void)random.next();
        return drawn;
    }
};
struct GivesUp : Lawful {
    template <class Weigh>
    auto draw(const SamplingFrame& frame, const Weigh& weigh, Random& random) const -> std::optional<Draw> {
        const auto drawn = pool.draw(frame, weigh, random);
        return drawn && drawn->undecided() ? std::nullopt : drawn;
    }
};
struct SharesItsState {
    std::shared_ptr<GpuGroupPool> pool = std::make_shared<GpuGroupPool>();

    void changed(const NodePlace& before, const NodePlace& after) { pool->changed(before, after); }
    template <class Weigh>
    auto draw(const SamplingFrame& frame, const Weigh& weigh, Random& random) const -> std::optional<Draw> {
        return pool->draw(frame, weigh, random);
    }
    auto count(const SamplingFrame& frame) const -> std::uint32_t { return pool->count(frame); }
};
struct HasMoods : Lawful {
    mutable std::uint32_t calls = 0;
    template <class Weigh>
    auto draw(const SamplingFrame& frame, const Weigh& weigh, Random& random) const -> std::optional<Draw> {
        auto drawn = pool.draw(frame, weigh, random);
        return ++calls % 100 == 0 ? std::nullopt : drawn;
    }
};

}  // namespace

TEST_CASE("a lawful pool yields no finding") {
    CHECK(finding(Lawful{}) == "nothing");
    CHECK(finding(allot::LinearPool{}) == "nothing");
}

TEST_CASE("a pool that does not leave where it was is found") {
    CHECK(says(finding(IgnoresPriorState{}), "count is"));
    CHECK(says(finding(ForgetsModels{}), "count is"));
    CHECK(says(finding(allot::archetype::Pool{}), "count is 0"));
}

TEST_CASE("a pool that counts wrong is found") { CHECK(says(finding(CountsOneTooMany{}), "count is")); }

TEST_CASE("a pool that takes more chance than the canonical draw is found") {
    CHECK(says(finding(DrawsAnotherWord{}), "words"));
}

TEST_CASE("a pool that gives up is found") {
    CHECK(says(finding(GivesUp{}), "where the canonical draw gives no decision"));
}

TEST_CASE("a pool whose copies share something is found") { CHECK(says(finding(SharesItsState{}), "copy")); }

TEST_CASE("a pool with moods is found") { CHECK(finding(HasMoods{}) != "nothing"); }
