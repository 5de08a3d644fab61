#pragma once

// A dispatcher that is compiled once. `extern template` keeps it from being instantiated wherever this header is included, so
// that only dispatcher.cpp pays for it; everybody else compiles a little faster and links to that one.

#include <allot/allot.hpp>

namespace relay {

/// The relay's own weight: the QoS score counts twice.
struct ServiceFirst {
    using role = allot::role::weight;
    static constexpr bool monotone = true;

    auto weight(const allot::Node& node, const allot::Task& task, allot::Factors factors) const -> allot::Weight;
};

using Dispatcher = allot::Dispatcher<ServiceFirst, allot::ValueQueue>;

}  // namespace relay

extern template class allot::Dispatcher<relay::ServiceFirst, allot::ValueQueue>;
