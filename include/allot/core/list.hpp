#pragma once

#include <cstdint>

#include <boost/container/options.hpp>
#include <boost/container/vector.hpp>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// A vector for records: 16 bytes in place of 24, because it counts with 32 bits. There are millions of records, and most of
/// their lists are short or empty.
template <class T>
using List = boost::container::vector<T, void, boost::container::vector_options_t<boost::container::stored_size<std::uint32_t>>>;

}}  // namespace allot::v0
