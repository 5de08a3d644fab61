#pragma once

#include <exception>
#include <initializer_list>
#include <stdexcept>

#include <allot/assert.hpp>

namespace allot { inline namespace v0 { namespace detail {

/// What parameters have to be, and the sentence that says so when they are not.
struct ParameterRule {
    bool met;
    const char* sentence;
};

/// The sentence of the first rule that is not met; null when all are.
[[nodiscard]] constexpr auto first_unmet(std::initializer_list<ParameterRule> rules) noexcept -> const char* {
    for (const auto& rule : rules) {
        if (!rule.met) {
            return rule.sentence;
        }
    }
    return nullptr;
}

/// What is wrong with parameters, as one sentence: what their `fault()` says, or a general one where only `valid()` says no. Null
/// when nothing is, and for a type that has neither.
template <class Parameters>
[[nodiscard]] constexpr auto parameter_fault(const Parameters& parameters) -> const char* {
    if constexpr (requires { parameters.fault(); }) {
        return parameters.fault();
    } else if constexpr (requires { parameters.valid(); }) {
        return parameters.valid() ? nullptr : "allot: a parameter is outside its documented range";
    } else {
        return nullptr;
    }
}

/// The parameters themselves when nothing is wrong with them, else std::invalid_argument with the sentence. A program without
/// exceptions ends instead, and a constant expression does not compile.
template <class Parameters>
constexpr auto sound(const Parameters& parameters) -> const Parameters& {
    if (const auto* fault = parameter_fault(parameters); fault != nullptr) {
#ifdef __cpp_exceptions
        throw std::invalid_argument{fault};
#else
        ALLOT_ASSERT(fault == nullptr, fault);
        std::terminate();  // as an uncaught one would
#endif
    }
    return parameters;
}

}}}  // namespace allot::v0::detail
