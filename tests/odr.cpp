// Linked into every test program, so that each header stands in two translation units of it.
#include <allot/allot.hpp>
#include <allot/format.hpp>
