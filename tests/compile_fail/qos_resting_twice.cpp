// error: allot: Resting: the tracker inside has rests, stakes or cards of its own, which Resting would hide
#include <allot/qos/resting.hpp>

auto tracker = allot::Resting<allot::Resting<>>{};
