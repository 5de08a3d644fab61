// error: allot: a candidate pool needs `auto draw.const SamplingFrame&, weigh, Random&. const -> std::optional<Draw>`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Pool {
    using Weigh = allot::Weight (*)(allot::NodeHandle, std::uint32_t);
    auto draw(const allot::SamplingFrame&, Weigh, allot::Random&) const -> std::optional<allot::Draw> { return {}; }
};

auto dispatcher = allot::Dispatcher{Mine{}};
