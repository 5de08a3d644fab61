#pragma once

#include <cstdint>

#include <tl/expected.hpp>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

enum class Error : std::uint16_t;

/// What a pure function that can fail gives back: the value or the reason why there is none.
///
/// It is the same type under every language standard, and therefore never std::expected: two translation units of
/// one program must not disagree about it. There is no `Result<void>`; a function without a value answers with an
/// `std::optional<Error>`.
template <typename T>
using Result = tl::expected<T, Error>;

/// The failing half of a `Result`, as in `return Failure{Error::id_invalid};`.
using Failure = tl::unexpected<Error>;

}}  // namespace allot::v0
