#pragma once

#include <cstdint>
#include <span>

#include <boost/container/options.hpp>
#include <boost/container/vector.hpp>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// A vector for records: 16 bytes instead of 24, because its counts have 32 bits. There are millions of records, and
/// most of their lists are short or empty.
template <class T>
using List =
    boost::container::vector<T, void, boost::container::vector_options_t<boost::container::stored_size<std::uint32_t>>>;

/// The elements of a Boost container as a span. The standard library recognises the iterators of these containers as
/// contiguous only with a Boost newer than 1.74.
/// @complexity O(1).
template <class Container>
[[nodiscard]] constexpr auto span_of(const Container& elements) noexcept
    -> std::span<const typename Container::value_type> {
    return {elements.data(), elements.size()};
}

}}  // namespace allot::v0
