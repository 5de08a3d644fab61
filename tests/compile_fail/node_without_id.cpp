// error: NodeId.*NodeIdTag
#include <allot/core/node.hpp>

// An id has no default: whoever forgets it hears so from the compiler.
auto node = allot::NodeSpec{.gpu = "RTX 4090", .vram = allot::Gibibytes{24}, .stake = 400};
