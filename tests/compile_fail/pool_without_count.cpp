// error: allot: a candidate pool needs `auto count.const SamplingFrame&. const -> std::uint32_t`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Pool {
    auto count(const allot::SamplingFrame&) const -> int { return 0; }
};

auto dispatcher = allot::Dispatcher{Mine{}};
