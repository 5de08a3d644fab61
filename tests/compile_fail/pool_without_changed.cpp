// error: allot: a candidate pool needs `void changed.const NodePlace& before, const NodePlace& after.`
#include <allot/dispatcher/dispatcher.hpp>
#include <allot/policy/archetype.hpp>

struct Mine : allot::archetype::Pool {
    void changed(const allot::NodePlace&) {}
};

auto dispatcher = allot::Dispatcher{Mine{}};
