// error: allot: a weight policy says that it is monotone with `static constexpr bool monotone = true.`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Weight {
    inline static bool monotone = true;
};

auto dispatcher = allot::Dispatcher{Mine{}};
