#include <allot/pool/linear_pool.hpp>

#define ALLOT_MODEL allot::LinearPool
#include "conformance/pool.ipp"
