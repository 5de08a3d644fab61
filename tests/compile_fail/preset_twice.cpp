// error: allot: two policies of one role; give the Dispatcher only one of them
#include <allot/preset/crynux_single.hpp>

auto dispatcher = allot::Dispatcher{allot::preset::CrynuxSingle{}, allot::preset::CrynuxSingle{}};
