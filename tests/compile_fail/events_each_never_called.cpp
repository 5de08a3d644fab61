// error: allot: Events::each got a handler that takes no event, so it would never be called
#include <allot/core/events.hpp>

void listen(const allot::Events& events) {
    events.each([](const allot::Lease&) {});
}
