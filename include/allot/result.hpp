#pragma once

#include <cstdint>

#include <tl/expected.hpp>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

enum class Error : std::uint16_t;

/// Result of a pure function that can fail: the value, or the reason for its absence.
///
/// Ask it before you read it: `if (result)`. `*result` of an error is undefined; `result.value()` of an error throws
/// `tl::bad_expected_access`, or ends the program where there are no exceptions.
///
/// It is the same type under every language standard, and therefore never std::expected: all translation units of one
/// program must agree on it. There is no `Result<void>`; a function without a value returns `std::optional<Error>`. The
/// reason is an `Error` unless a room has reasons of its own, as decoding has.
template <typename T, typename E = Error>
using Result = tl::expected<T, E>;

/// The failing half of a `Result` with reasons of its own, as in `return FailureOf<IoError>{IoError::no_space};`.
template <typename E>
using FailureOf = tl::unexpected<E>;

/// The failing half of a `Result`, as in `return Failure{Error::id_invalid};`.
using Failure = FailureOf<Error>;

}}  // namespace allot::v0
