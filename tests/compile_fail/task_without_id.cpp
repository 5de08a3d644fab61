// error: TaskId.*TaskIdTag
#include <allot/core/task.hpp>

auto task = allot::TaskSpec{.vram_min = allot::Gibibytes{24}, .fee = 10};
