#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>

#include <allot/core/event.hpp>
#include <allot/core/event_fields.hpp>
#include <allot/core/reason.hpp>
#include <allot/core/score.hpp>
#include <allot/core/sentence.hpp>
#include <allot/core/weight.hpp>

namespace allot { inline namespace v0 { namespace detail {

/// A formatter that writes text and takes no options.
struct PlainFormatter {
    constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }

    /// Appends text. `fmt::format_to` with "{}" does the same, but a program then compiles the formats of all numbers
    /// as well, which is a tenth of all its code if it is small.
    template <class Context>
    [[nodiscard]] static auto write(std::string_view text, Context& context) {
        return std::copy(text.begin(), text.end(), context.out());
    }
};

}}}  // namespace allot::v0::detail

/// `fmt::print("{}", id)`: a number, text or hex digits, as the id was made.
template <class Tag>
struct fmt::formatter<allot::Id<Tag>> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(const allot::Id<Tag>& id, Context& context) const {
        return write(id.text(), context);
    }
};

template <>
struct fmt::formatter<allot::Error> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(allot::Error error, Context& context) const {
        return write(allot::message(error), context);
    }
};

template <>
struct fmt::formatter<allot::Reason> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(allot::Reason reason, Context& context) const {
        return write(allot::message(reason), context);
    }
};

template <>
struct fmt::formatter<allot::Amount> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(const allot::Amount& amount, Context& context) const {
        return write(allot::to_decimal(amount.units), context);
    }
};

/// `fmt::print("{}", time)`: `2026-11-23T03:49:04.123Z`, or milliseconds where the origin is not 1970.
template <>
struct fmt::formatter<allot::TimePoint> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(allot::TimePoint time, Context& context) const {
        return write(allot::time_text(time), context);
    }
};

/// A score from 0.000 to 1.000, rounded down.
template <>
struct fmt::formatter<allot::Score> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(allot::Score score, Context& context) const {
        namespace say = allot::detail;
        return write(say::digits(score.permille() / 1'000, 1) + "." + say::digits(score.permille() % 1'000, 3),
                     context);
    }
};

/// A weight with nine decimals, rounded down.
template <>
struct fmt::formatter<allot::Weight> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(allot::Weight weight, Context& context) const {
        constexpr auto unit = allot::Weight::fraction_bits;
        const auto whole = weight.raw() >> unit;
        // Forty bits of the fraction are more than nine decimals; the product fits.
        const auto fraction = ((weight.raw() - (whole << unit)) >> (unit - 40)) * allot::u128{1'000'000'000};
        const auto decimals = static_cast<std::int64_t>((fraction >> 40).low());
        return write(allot::to_decimal(whole) + "." + allot::detail::digits(decimals, 9), context);
    }
};

template <>
struct fmt::formatter<allot::Lease> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(const allot::Lease& lease, Context& context) const {
        return write(allot::detail::text({"task ", lease.task.text(), " on node ", lease.node.text(), " until ",
                                          allot::time_text(lease.deadline)}),
                     context);
    }
};

/// Every enum that has a list of enumerators and no sentence of its own: the name of the enumerator.
template <class E>
    requires allot::has_enumerators<E>
struct fmt::formatter<E> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(E value, Context& context) const {
        return write(allot::enumerator_name(value), context);
    }
};

/// `fmt::print("{}", event)`: one sentence.
template <>
struct fmt::formatter<allot::Event> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(const allot::Event& event, Context& context) const {
        return write(allot::sentence(event), context);
    }
};

/// The sentence of a single event type.
template <class E>
    requires allot::event_type<E>
struct fmt::formatter<E> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(const E& event, Context& context) const {
        return write(allot::detail::EventText{}(event), context);
    }
};
