#pragma once

#include <boost/preprocessor/cat.hpp>

#include <allot/assert.hpp>
#include <allot/version.hpp>

// The settings that `allot::compiled` and a program that uses it must share, as one name. Each file that uses it refers
// to a variable of this name, so that a mix does not link, and the linker's message names the difference.

#if defined(ALLOT_DETAIL_ASSERT_REPLACED)
#    define ALLOT_DETAIL_COMPILED_ASSERT _assertions_replaced
#elif defined(NDEBUG)
#    define ALLOT_DETAIL_COMPILED_ASSERT _assertions_off
#else
#    define ALLOT_DETAIL_COMPILED_ASSERT _assertions_on
#endif
#ifdef __cpp_exceptions
#    define ALLOT_DETAIL_COMPILED_EXCEPTIONS _exceptions_on
#else
#    define ALLOT_DETAIL_COMPILED_EXCEPTIONS _exceptions_off
#endif
#ifdef _GLIBCXX_DEBUG
#    define ALLOT_DETAIL_COMPILED_DEBUG _debug_containers
#else
#    define ALLOT_DETAIL_COMPILED_DEBUG
#endif
#define ALLOT_DETAIL_COMPILED_VERSION                                                                                  \
    BOOST_PP_CAT(BOOST_PP_CAT(BOOST_PP_CAT(version_, ALLOT_VERSION_MAJOR), BOOST_PP_CAT(_, ALLOT_VERSION_MINOR)),      \
                 BOOST_PP_CAT(_, ALLOT_VERSION_PATCH))
#define ALLOT_DETAIL_COMPILED                                                                                          \
    BOOST_PP_CAT(BOOST_PP_CAT(ALLOT_DETAIL_COMPILED_VERSION, ALLOT_DETAIL_COMPILED_ASSERT),                            \
                 BOOST_PP_CAT(ALLOT_DETAIL_COMPILED_EXCEPTIONS, ALLOT_DETAIL_COMPILED_DEBUG))

/// The settings that a program shares with `allot::compiled`.
namespace allot { inline namespace v0 { namespace compiled {

extern const char ALLOT_DETAIL_COMPILED;

namespace {

// `used`, because no other code refers to it.
#if defined(__GNUC__)
[[gnu::used]]
#endif
const char* const linked_with = &ALLOT_DETAIL_COMPILED;

}  // namespace

}}}  // namespace allot::v0::compiled
