#pragma once

#include <exception>
#include <initializer_list>
#include <stdexcept>

#include <allot/assert.hpp>

namespace allot { inline namespace v0 { namespace detail {

/// One condition on parameters, and the sentence that reports its breach.
struct ParameterRule {
    bool met;
    const char* sentence;
};

/// The sentence of the first rule that is not met; null when all are met.
/// @complexity linear in the number of rules.
[[nodiscard]] constexpr auto first_unmet(std::initializer_list<ParameterRule> rules) noexcept -> const char* {
    for (const auto& rule : rules) {
        if (!rule.met) { return rule.sentence; }
    }
    return nullptr;
}

/// The fault of the parameters as one sentence: that of their `fault()`, or a general one where only `valid()` returns
/// false. Null for sound parameters, and for a type with neither function.
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

/// Returns sound parameters unchanged; otherwise throws std::invalid_argument with the sentence. A program without
/// exceptions terminates instead, and a constant expression does not compile.
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
