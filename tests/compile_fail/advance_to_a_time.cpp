// error: deleted
#include <allot/dispatcher/dispatcher.hpp>

void tick(allot::Dispatcher<>& dispatcher, allot::TimePoint now) {
    dispatcher.advance(now);
}
