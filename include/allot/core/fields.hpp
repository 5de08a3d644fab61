#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <boost/preprocessor/seq/for_each.hpp>
#include <boost/preprocessor/stringize.hpp>
#include <boost/preprocessor/variadic/to_seq.hpp>

#include <allot/version.hpp>

// The one list of a type's fields, and of an enum's names. The canonical encoding, its decoder, the JSON form and the
// hash all iterate over this list, so none can miss a field that another includes.
//
// The library's own lists are declared next to their types or in core/*_fields.hpp. An embedder's own type, such as the
// parameters of a policy, gets one line in its own namespace:
//
//     struct LotteryParameters { std::uint32_t tickets = 1; Mode mode = Mode::fair; };
//     ALLOT_FIELDS(LotteryParameters, tickets, mode)
//     ALLOT_ENUMERATORS(Mode, fair, rigged)

#define ALLOT_DETAIL_FIELD(r, data, field) allot_visit(std::string_view{BOOST_PP_STRINGIZE(field)}, allot_value.field);
#define ALLOT_DETAIL_CASE(r, Type, name)                                                                               \
    case Type::name:                                                                                                   \
        return BOOST_PP_STRINGIZE(name);

#define ALLOT_DETAIL_VISIT(Type, ...)                                                                                  \
    static_assert(std::is_empty_v<Type> __VA_OPT__(|| true), "allot: ALLOT_FIELDS names the members of the type");     \
    __VA_OPT__([[maybe_unused]] const auto& [__VA_ARGS__] = allot_value; /* that is all of them */                     \
               BOOST_PP_SEQ_FOR_EACH(ALLOT_DETAIL_FIELD, _, BOOST_PP_VARIADIC_TO_SEQ(__VA_ARGS__)))

/// Lists all members of an aggregate, in the order of their encoding, which never changes; none for an empty one. Write
/// it at namespace scope of the type's own namespace. Once the list is used, a missing, repeated or misspelt member
/// does not compile.
#define ALLOT_FIELDS(Type, ...)                                                                                        \
    [[nodiscard]] constexpr auto allot_type_name(std::type_identity<Type>) noexcept->std::string_view {                \
        return #Type;                                                                                                  \
    }                                                                                                                  \
    template <class V, class Visit>                                                                                    \
    constexpr void allot_fields(std::type_identity<Type>, [[maybe_unused]] V& allot_value,                             \
                                [[maybe_unused]] Visit&& allot_visit) {                                                \
        ALLOT_DETAIL_VISIT(Type, __VA_ARGS__)                                                                          \
    }

/// The same for a class template of one type.
#define ALLOT_FIELDS_OF_TEMPLATE(Template, ...)                                                                        \
    template <class P>                                                                                                 \
    [[nodiscard]] constexpr auto allot_type_name(std::type_identity<Template<P>>) noexcept->std::string_view {         \
        return #Template;                                                                                              \
    }                                                                                                                  \
    template <class P, class V, class Visit>                                                                           \
    constexpr void allot_fields(std::type_identity<Template<P>>, V& allot_value, Visit&& allot_visit) {                \
        ALLOT_DETAIL_VISIT(Template<P>, __VA_ARGS__)                                                                   \
    }

/// Lists all enumerators of a scoped enum; with -Wswitch the compiler names a missing one. Write it as `ALLOT_FIELDS`.
#define ALLOT_ENUMERATORS(Type, ...)                                                                                   \
    [[nodiscard]] constexpr auto allot_enumerators(std::type_identity<Type>) noexcept {                                \
        using enum Type;                                                                                               \
        return std::array{__VA_ARGS__};                                                                                \
    }                                                                                                                  \
    [[nodiscard]] constexpr auto allot_enumerator_name(Type value) noexcept->std::string_view {                        \
        switch (value) { BOOST_PP_SEQ_FOR_EACH(ALLOT_DETAIL_CASE, Type, BOOST_PP_VARIADIC_TO_SEQ(__VA_ARGS__)) }       \
        return {};                                                                                                     \
    }

namespace allot { inline namespace v0 {

/// Types with a list of fields.
template <class T>
concept has_fields = requires {
    allot_type_name(std::type_identity<T>{});
};

/// Enums with a list of enumerators.
template <class E>
concept has_enumerators = std::is_enum_v<E> && requires {
    allot_enumerators(std::type_identity<E>{});
};

/// The name of a type with a list of fields, as the list spells it.
template <has_fields T>
[[nodiscard]] constexpr auto type_name() noexcept -> std::string_view {
    return allot_type_name(std::type_identity<T>{});
}

/// Calls `visit(name, member)` for each field, in the order of the list.
template <class V, class Visit>
    requires has_fields<std::remove_const_t<V>>
constexpr void each_field(V& value, Visit&& visit) {
    allot_fields(std::type_identity<std::remove_const_t<V>>{}, value, visit);
}

/// The name of an enumerator; empty for a number without one.
template <has_enumerators E>
[[nodiscard]] constexpr auto enumerator_name(E value) noexcept -> std::string_view {
    return allot_enumerator_name(value);
}

/// All enumerators, in the order of the list.
template <has_enumerators E>
[[nodiscard]] constexpr auto enumerators() noexcept {
    return allot_enumerators(std::type_identity<E>{});
}

namespace detail {

template <class T>
struct Blank;

/// Converts to any type without a default constructor.
struct Filler {
    template <class T>
        requires(!std::default_initializable<T>)
    constexpr operator T() const {  // NOLINT: implicit, it stands for a member
        return Blank<T>::make();
    }
};

template <class T>
struct Blank {
    static constexpr auto make() -> T {
        if constexpr (std::default_initializable<T>) {
            return T{};
        } else if constexpr (requires { typename T::Bytes; }) {
            return T{typename T::Bytes{}};
        } else if constexpr (requires { typename T::Alternatives; }) {
            return T{Blank<std::variant_alternative_t<0, typename T::Alternatives>>::make()};
        } else {
            return leading(std::index_sequence<0>{});
        }
    }

private:
    /// Members without a default come first; the others take the type's defaults.
    template <std::size_t... I>
    static constexpr auto leading(std::index_sequence<I...>) -> T {
        if constexpr (requires { T{(static_cast<void>(I), Filler{})...}; }) {
            return T{(static_cast<void>(I), Filler{})...};
        } else {
            static_assert(sizeof...(I) < 16,
                          "allot: blank() cannot make this type; put members that have no default (ids) first, or "
                          "give them one: `NodeId to = NodeId::null();`");
            return leading(std::make_index_sequence<sizeof...(I) + 1>{});
        }
    }
};
template <class First, class... Others>
struct Blank<std::variant<First, Others...>> {
    static constexpr auto make() -> std::variant<First, Others...> { return Blank<First>::make(); }
};

}  // namespace detail

/// A value to be filled in: the null id for a member without a default, otherwise the type's default.
template <class T>
[[nodiscard]] constexpr auto blank() -> T {
    return detail::Blank<T>::make();
}

}}  // namespace allot::v0
