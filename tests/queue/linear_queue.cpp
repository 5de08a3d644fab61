#include <allot/queue/linear_queue.hpp>

#define ALLOT_MODEL allot::LinearQueue
#include "conformance/queue.ipp"
