// error: allot: a policy.s role must be one of allot::role: eligibility, weight, pool, queue
#include <allot/dispatcher/dispatcher.hpp>

struct speed {};

struct Mine {
    using role = speed;
};

auto dispatcher = allot::Dispatcher{Mine{}};
