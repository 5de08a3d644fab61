#pragma once

#include <string>

#include <boost/version.hpp>

namespace bench {

/// What counted figures depend on besides the library: the compiler, its standard library and Boost.
inline auto toolchain() -> std::string {
#if defined(__clang__)
    auto text = "clang-" + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__);
#else
    auto text = "gcc-" + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__);
#endif
#if defined(_LIBCPP_VERSION)
    text += ",libc++-" + std::to_string(_LIBCPP_VERSION);
#elif defined(_GLIBCXX_RELEASE)
    text += ",libstdc++-" + std::to_string(_GLIBCXX_RELEASE);
#endif
    return text + ",boost-" + BOOST_LIB_VERSION;
}

}  // namespace bench
