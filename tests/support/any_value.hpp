#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <boost/mp11/algorithm.hpp>
#include <fmt/format.h>

#include <allot/core/command_fields.hpp>
#include <allot/core/event_fields.hpp>
#include <allot/core/events.hpp>
#include <allot/core/score.hpp>
#include <allot/core/stake_root.hpp>
#include <allot/core/task.hpp>

namespace support {

/// The variant that a type is, or from which it derives.
template <class V>
struct AlternativesOf : std::type_identity<V> {};
template <class V>
    requires requires { typename V::Alternatives; }
struct AlternativesOf<V> : std::type_identity<typename V::Alternatives> {};

/// Fills values of any type with a field list with any content they can hold; the ends of each range come more often
/// than by a uniform draw.
class AnyValue {
public:
    explicit AnyValue(std::uint64_t seed) : random_{seed} {}

    template <class T>
    [[nodiscard]] auto of() -> T {
        auto value = allot::blank<T>();
        fill(value);
        return value;
    }

    /// Returns a value of one alternative of a variant.
    template <class V>
    [[nodiscard]] auto alternative(std::size_t index) -> V {
        using Alternatives = typename AlternativesOf<V>::type;
        auto value = allot::blank<V>();
        boost::mp11::mp_with_index<std::variant_size_v<Alternatives>>(index, [&](auto i) {
            fill(value.template emplace<i>(allot::blank<std::variant_alternative_t<i, Alternatives>>()));
        });
        return value;
    }

    auto below(std::uint64_t n) -> std::size_t { return static_cast<std::size_t>(random_() % n); }

    template <class T>
    void fill(T& value) {
        if constexpr (std::is_same_v<T, bool>) {
            value = below(2) == 1;
        } else if constexpr (std::is_integral_v<T>) {
            value = static_cast<T>(word());
        } else if constexpr (std::is_enum_v<T>) {
            constexpr auto all = allot::enumerators<T>();
            value = all[below(all.size())];
        } else if constexpr (std::is_same_v<T, allot::u128>) {
            value = wide();
        } else if constexpr (std::is_same_v<T, allot::Score>) {
            value =
                allot::Score::from_raw(static_cast<std::uint32_t>(below(4) == 0 ? word() : below((1U << 30U) + 1U)));
        } else if constexpr (std::is_same_v<T, allot::StakeRoot>) {
            value = allot::StakeRoot::from(wide() >> static_cast<int>(below(128)));
        } else if constexpr (std::is_same_v<T, allot::Duration>) {
            value = allot::Duration{static_cast<std::int64_t>(word())};
        } else if constexpr (std::is_same_v<T, allot::TimePoint>) {
            value = allot::TimePoint{of<allot::Duration>()};
        } else if constexpr (allot::has_fields<T>) {
            allot::each_field(value, [this](std::string_view, auto& field) { this->fill(field); });
        } else {
            fill_made_of_others(value);
        }
    }

private:
    auto word() -> std::uint64_t {
        switch (below(6)) {
            case 0: return 0;
            case 1: return below(2) == 0 ? ~std::uint64_t{0} : std::uint64_t{1} << 63U;
            case 2: return below(300);
            case 3: return std::uint64_t{1} << below(64);
            default: return random_() >> below(64);
        }
    }
    auto wide() -> allot::u128 {
        const auto low = word();
        return allot::u128::from_parts(word(), low);
    }
    template <class Tag>
    void fill_made_of_others(allot::Id<Tag>& value) {
        switch (below(5)) {
            case 0: value = allot::Id<Tag>{word()}; break;
            case 1: value = allot::Id<Tag>{"relay-" + std::to_string(below(1'000))}; break;
            case 2: value = allot::Id<Tag>{""}; break;
            case 3: {
                auto text = std::string(1 + below(32), 'x');
                text.back() = static_cast<char>(below(256));
                value = allot::Id<Tag>{text};
                break;
            }
            default: {
                auto bytes = typename allot::Id<Tag>::Bytes{};
                fill(bytes);
                value = allot::Id<Tag>{bytes};
            }
        }
    }
    void fill_made_of_others(allot::Name& value) { value = of<std::string>(); }
    void fill_made_of_others(allot::Event& value) { value = alternative<allot::Event>(below(allot::event_types)); }
    void fill_made_of_others(std::string& value) {
        const auto any_bytes = below(4) == 0;
        value.clear();
        for (auto left = below(4) == 0 ? below(40) : below(5); left > 0; --left) {
            value += static_cast<char>(any_bytes ? below(256) : ' ' + below(95));
        }
    }
    template <class T, std::size_t N>
    void fill_made_of_others(std::array<T, N>& values) {
        for (auto& value : values) { fill(value); }
    }
    template <class T>
    void fill_made_of_others(std::vector<T>& values) {
        values.clear();
        for (auto left = below(4); left > 0; --left) { values.push_back(of<T>()); }
    }
    void fill_made_of_others(allot::Value& value) {
        value = allot::Value{wide() >> static_cast<int>(below(128)), word()};
    }
    void fill_made_of_others(allot::Events& events) {
        events.clear();
        for (auto left = below(4); left > 0; --left) { events.push(of<allot::Event>()); }
    }
    template <class T>
    void fill_made_of_others(std::optional<T>& value) {
        value.reset();
        if (below(2) == 1) { value = of<T>(); }
    }
    template <class... Ts>
    void fill_made_of_others(std::variant<Ts...>& value) {
        value = alternative<std::variant<Ts...>>(below(sizeof...(Ts)));
    }

    std::mt19937_64 random_;
};

/// Returns the content of a value as text; texts differ if values do. It shares no code with the encoding.
template <class T>
[[nodiscard]] auto told(const T& value) -> std::string;

namespace detail {

template <class Tag>
auto told_of(const allot::Id<Tag>& value) -> std::string {
    return value.hex();
}
inline auto told_of(const std::string& value) -> std::string { return fmt::format("{}:{}", value.size(), value); }
inline auto told_of(const allot::Name& value) -> std::string { return told_of(std::string{value.view()}); }
template <class List>
auto told_of_list(const List& values) -> std::string {
    auto out = fmt::format("{}[", values.size());
    for (const auto& value : values) { out += told(value) + ","; }
    return out + "]";
}
template <class T, std::size_t N>
auto told_of(const std::array<T, N>& values) -> std::string {
    return told_of_list(values);
}
template <class T>
auto told_of(const std::vector<T>& values) -> std::string {
    return told_of_list(values);
}
inline auto told_of(const allot::Value& value) -> std::string { return told(value.num()) + "/" + told(value.den()); }
inline auto told_of(const allot::Events& events) -> std::string { return told_of_list(events); }
template <class T>
auto told_of(const std::optional<T>& value) -> std::string {
    return value ? "+" + told(*value) : "-";
}
template <class... Ts>
auto told_of(const std::variant<Ts...>& value) -> std::string {
    return std::visit([&](const auto& v) { return fmt::format("#{}{}", value.index(), told(v)); }, value);
}

}  // namespace detail

template <class T>
auto told(const T& value) -> std::string {
    if constexpr (std::is_integral_v<T>) {
        return fmt::format("{}", value);
    } else if constexpr (std::is_enum_v<T>) {
        return fmt::format("e{}", static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_same_v<T, allot::u128>) {
        return allot::to_decimal(value);
    } else if constexpr (std::is_same_v<T, allot::Score>) {
        return fmt::format("{}", value.raw());
    } else if constexpr (std::is_same_v<T, allot::StakeRoot>) {
        return fmt::format("{}", value.packed());
    } else if constexpr (std::is_same_v<T, allot::Duration>) {
        return fmt::format("{}ms", value.count());
    } else if constexpr (std::is_same_v<T, allot::TimePoint>) {
        return fmt::format("@{}", value.time_since_epoch().count());
    } else if constexpr (allot::has_fields<T>) {
        auto out = std::string{"{"};
        allot::each_field(
            value, [&](std::string_view name, const auto& field) { out += fmt::format("{}={} ", name, told(field)); });
        return out + "}";
    } else {
        return detail::told_of(value);
    }
}

}  // namespace support
