// error: allot: a QoS tracker needs `struct node_data`, default-constructible, copyable and with `operator==`
#include <allot/dispatcher/dispatcher.hpp>

struct Mine {
    using role = allot::role::qos;
};

auto dispatcher = allot::Dispatcher{Mine{}};
