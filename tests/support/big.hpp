#pragma once

#include <boost/multiprecision/cpp_int.hpp>

#include <allot/core/u128.hpp>

namespace support {

/// Returns the same number in the oracle's arithmetic.
inline auto big(allot::u128 value) -> boost::multiprecision::cpp_int {
    return (boost::multiprecision::cpp_int{value.high()} << 64U) + value.low();
}

}  // namespace support
