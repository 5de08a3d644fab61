// error: allot: a monotone weight that takes a Situation needs `auto weight_max.const Node&, Factors. const -> Weight`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine {
    using role = allot::role::weight;
    static constexpr bool monotone = true;
    auto weight(const allot::Node&, const allot::Task&, allot::Factors, const allot::Situation&) const -> allot::Weight {
        return {};
    }
};

auto dispatcher = allot::Dispatcher{Mine{}};
