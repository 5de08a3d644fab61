#pragma once

// A dispatcher that is compiled once. `extern template` prevents its instantiation in each file that includes this
// header. So only dispatcher.cpp pays for it, and includes its functions; the other files see the class and link to it.

#include <allot/dispatcher/interface.hpp>

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
