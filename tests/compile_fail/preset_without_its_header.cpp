// error: incomplete type
#include <allot/allot.hpp>

auto dispatcher = allot::Dispatcher{allot::preset::Hardened{}};
