#pragma once

#include <string_view>
#include <type_traits>
#include <variant>

#include <allot/core/command.hpp>
#include <allot/core/event.hpp>
#include <allot/journal/encode.hpp>

namespace allot { inline namespace v0 { namespace detail {

/// The variant that `T` is, or from which `T` derives under the name `Alternatives`.
template <class T>
struct AlternativesOf {};
template <class... Ts>
struct AlternativesOf<std::variant<Ts...>> : std::type_identity<std::variant<Ts...>> {};
template <class T>
    requires requires { typename T::Alternatives; }
struct AlternativesOf<T> : std::type_identity<typename T::Alternatives> {};
template <class T>
using alternatives_of = typename AlternativesOf<T>::type;

/// A type with a value of one of several types.
template <class T>
concept has_alternatives = requires {
    typename alternatives_of<T>;
};

/// The field of an object that names the alternative; the alternative's own fields are in the same object. Empty for
/// parameters: they are an object with one field, named after their type.
template <class T>
inline constexpr auto json_kind = std::string_view{};
template <>
inline constexpr auto json_kind<Event> = std::string_view{"event"};
template <class Parameters>
inline constexpr auto json_kind<basic_command<Parameters>> = std::string_view{"command"};

/// True for a `LogEntry`. It is written as one object with the fields of the moment and those of the command.
template <class T>
inline constexpr bool is_log_entry = false;
template <class Command>
inline constexpr bool is_log_entry<LogEntry<Command>> = true;

}}}  // namespace allot::v0::detail
