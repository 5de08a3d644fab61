#pragma once

// The only place that names a Catch2 header: Debian 12 and Ubuntu 22.04 ship version 2, later releases version 3.
#if __has_include(<catch2/catch_all.hpp>)
#    include <catch2/catch_all.hpp>
#else
#    include <catch2/catch.hpp>
#endif
