#pragma once

#include <string_view>
#include <type_traits>
#include <variant>

#include <allot/core/command.hpp>
#include <allot/core/event.hpp>
#include <allot/journal/encode.hpp>

namespace allot { inline namespace v0 { namespace detail {

/// The variant that a type is, or derives from under the name `Alternatives`.
template <class T>
struct AlternativesOf {};
template <class... Ts>
struct AlternativesOf<std::variant<Ts...>> : std::type_identity<std::variant<Ts...>> {};
template <class T>
    requires requires { typename T::Alternatives; }
struct AlternativesOf<T> : std::type_identity<typename T::Alternatives> {};
template <class T>
using alternatives_of = typename AlternativesOf<T>::type;

/// A type whose value is one of several.
template <class T>
concept has_alternatives = requires { typename alternatives_of<T>; };

/// The field of an object that names the alternative, whose own fields stand beside it. Empty where there is none: parameters
/// stand in an object whose one field is named after their type.
template <class T>
inline constexpr auto json_kind = std::string_view{};
template <>
inline constexpr auto json_kind<Event> = std::string_view{"event"};
template <class Parameters>
inline constexpr auto json_kind<basic_command<Parameters>> = std::string_view{"command"};

/// A step of a history is one object: the moment's fields, and beside them those of the command.
template <class T>
inline constexpr bool is_log_entry = false;
template <class Command>
inline constexpr bool is_log_entry<LogEntry<Command>> = true;

}}}  // namespace allot::v0::detail
