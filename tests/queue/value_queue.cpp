#include <allot/queue/value_queue.hpp>

#define ALLOT_MODEL allot::ValueQueue
#include "conformance/queue.ipp"
