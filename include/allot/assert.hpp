#pragma once

#include <cassert>

/// Asserts a guarantee of the caller; `text` states it as a sentence.
///
/// Only the caller's faults are asserted. A fault that an untrusted party can cause through a command gives an `Error`.
/// The condition is checked unless NDEBUG is defined; then it is not even evaluated, so it must have no side effect. A
/// condition with a comma outside parentheses needs parentheses around it. In a constexpr function a failure is a
/// compile error.
///
/// To replace it, define ALLOT_ASSERT before the first header of the library is included, in the same way in every
/// translation unit of the program.
#ifdef ALLOT_ASSERT
#    define ALLOT_DETAIL_ASSERT_REPLACED
#else
#    ifdef NDEBUG
// Names the condition's names, so that a parameter that only an assertion reads is not reported as unused.
#        define ALLOT_ASSERT(condition, text) static_cast<void>(sizeof(static_cast<bool>(condition)))
#    else
#        define ALLOT_ASSERT(condition, text) assert((condition) && (text))
#    endif
#endif
