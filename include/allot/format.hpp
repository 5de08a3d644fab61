#pragma once

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
};

}}}  // namespace allot::v0::detail

/// `fmt::print("{}", id)`: a number, text or hex digits, as the id was made.
template <class Tag>
struct fmt::formatter<allot::Id<Tag>> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(const allot::Id<Tag>& id, Context& context) const {
        return fmt::format_to(context.out(), "{}", id.text());
    }
};

template <>
struct fmt::formatter<allot::Error> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(allot::Error error, Context& context) const {
        return fmt::format_to(context.out(), "{}", allot::message(error));
    }
};

template <>
struct fmt::formatter<allot::Reason> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(allot::Reason reason, Context& context) const {
        return fmt::format_to(context.out(), "{}", allot::message(reason));
    }
};

template <>
struct fmt::formatter<allot::Amount> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(const allot::Amount& amount, Context& context) const {
        return fmt::format_to(context.out(), "{}", allot::to_decimal(amount.units));
    }
};

/// `fmt::print("{}", time)`: `2026-11-23T03:49:04.123Z`, or milliseconds where the origin is not 1970.
template <>
struct fmt::formatter<allot::TimePoint> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(allot::TimePoint time, Context& context) const {
        return fmt::format_to(context.out(), "{}", allot::time_text(time));
    }
};

/// A score from 0.000 to 1.000, rounded down.
template <>
struct fmt::formatter<allot::Score> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(allot::Score score, Context& context) const {
        return fmt::format_to(context.out(), "{}.{:03}", score.permille() / 1'000, score.permille() % 1'000);
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
        return fmt::format_to(context.out(), "{}.{:09}", allot::to_decimal(whole), (fraction >> 40).low());
    }
};

template <>
struct fmt::formatter<allot::Lease> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(const allot::Lease& lease, Context& context) const {
        return fmt::format_to(context.out(), "task {} on node {} until {}", lease.task.text(), lease.node.text(),
                              allot::time_text(lease.deadline));
    }
};

/// Every enum that has a list of enumerators and no sentence of its own: the name of the enumerator.
template <class E>
    requires allot::has_enumerators<E>
struct fmt::formatter<E> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(E value, Context& context) const {
        return fmt::format_to(context.out(), "{}", allot::enumerator_name(value));
    }
};

/// `fmt::print("{}", event)`: one sentence.
template <>
struct fmt::formatter<allot::Event> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(const allot::Event& event, Context& context) const {
        return fmt::format_to(context.out(), "{}", allot::sentence(event));
    }
};

/// The sentence of a single event type.
template <class E>
    requires allot::event_type<E>
struct fmt::formatter<E> : allot::detail::PlainFormatter {
    template <class Context>
    auto format(const E& event, Context& context) const {
        return fmt::format_to(context.out(), "{}", allot::detail::EventText{}(event));
    }
};
