#include "dispatcher.hpp"

#include <allot/dispatcher/dispatcher.hpp>
#include <allot/weight/harmonic_weight.hpp>

namespace relay {

// Keeps the law of a monotone weight: the square of a score rises with the score, and the stake is unchanged.
auto ServiceFirst::weight(const allot::Node& node, const allot::Task& task, allot::Factors factors) const
    -> allot::Weight {
    factors.qos *= factors.qos;
    return allot::HarmonicWeight{}.weight(node, task, factors);
}

}  // namespace relay

template class allot::Dispatcher<relay::ServiceFirst, allot::ValueQueue>;
