#include <allot/queue/flat_queue.hpp>

#define ALLOT_MODEL allot::FlatQueue
#include "conformance/queue.ipp"
