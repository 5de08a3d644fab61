// Only for a Catch2 package that brings no compiled main.
#define CATCH_CONFIG_MAIN
#include "support/catch.hpp"
