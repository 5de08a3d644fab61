// error: never said
#include <allot/version.hpp>
