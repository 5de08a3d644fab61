#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <boost/mp11/algorithm.hpp>

#include <allot/assert.hpp>
#include <allot/core/bytes.hpp>
#include <allot/core/command_fields.hpp>
#include <allot/core/event_fields.hpp>
#include <allot/core/moment.hpp>
#include <allot/core/score.hpp>
#include <allot/core/stake_root.hpp>
#include <allot/core/time.hpp>
#include <allot/core/u128.hpp>
#include <allot/result.hpp>
#include <allot/store/record_fields.hpp>

namespace allot { inline namespace v0 {

// The canonical encoding writes each value as exactly one byte string, the same on every machine.
//
//     integer, enum, bool    full width, the lowest byte first; a bool is 0 or 1, an enum one of its enumerators
//     u128, Amount           16 bytes          Score, StakeRoot    their raw word, in its range
//     time, duration         64-bit two's complement, in milliseconds
//     id                     32 bytes          std::array          its elements
//     text, std::vector, List   32-bit length, then its bytes or elements
//     Value                  numerator, 16 bytes, and denominator, 4 bytes
//     HeldModels             32-bit length, then model, holding, place (4 bytes) and time of each
//     std::optional          0, or 1 and the value
//     std::variant           8-bit number of the alternative, then the alternative; new ones are added at the end
//     struct                 its fields, in the order of its list (core/fields.hpp)
//     command::Configure     the name of the parameters' type as a text, the parameters, the rules version
//
// A message is the version, one byte, and a value. No field is left out, padded or shortened, so every accepted message
// encodes to the same bytes again.

/// Version of the encoding, the first byte of every message.
inline constexpr auto encoding_version = std::uint8_t{1};

/// One step of a network's history: a command and the moment of its execution. A log is a sequence of entries.
template <class Command>
struct LogEntry {
    Moment moment{};
    Command command;
};
ALLOT_FIELDS_OF_TEMPLATE(LogEntry, moment, command)

namespace detail {

template <class... Ps>
inline constexpr bool names_differ = [] {
    constexpr auto names = std::array{type_name<Ps>()...};
    for (std::size_t i = 0; i < names.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (names[i] == names[j]) { return false; }
        }
    }
    return true;
}();

/// Checks that the parameter types have field lists and distinct names.
template <class... Ps>
struct ConfigurationCheck {
    static constexpr bool listed = (has_fields<Ps> && ...);
    static constexpr bool unlike = [] {
        if constexpr (listed) { return names_differ<Ps...>; }
        return true;
    }();
    static constexpr bool passed = listed && unlike;
    static_assert(listed, "allot: to be encoded, a policy's Parameters need a list of their fields; write "
                          "`ALLOT_FIELDS(MyParameters, first, second)` beside them");
    static_assert(unlike,
                  "allot: two policies' Parameters have the same name, which their encoding goes by; rename one");
};

template <class Command>
struct Blank<LogEntry<Command>> {
    static constexpr auto make() -> LogEntry<Command> { return {{}, blank<Command>()}; }
};

template <class T>
struct UnsignedOf : std::make_unsigned<T> {};
template <>
struct UnsignedOf<bool> : std::type_identity<std::uint8_t> {};
template <class T>
using unsigned_of = typename UnsignedOf<T>::type;

}  // namespace detail

/// Appends values in canonical form to a caller's buffer, without a version.
///
/// @pre The buffer outlives the encoder. Each text and list has fewer than 2^32 bytes or elements (asserted).
/// @complexity `put` is linear in the bytes written, which it allocates in the buffer.
class Encoder {
public:
    /// Appends to `out`.
    explicit Encoder(std::vector<std::uint8_t>& out) noexcept : out_{out} {}

    /// Appends one value, as the table above says; the overloads below do the same for their types.
    template <std::integral I>
    void put(I value) {
        out_.integer(static_cast<detail::unsigned_of<I>>(value));
    }
    template <class E>
        requires std::is_enum_v<E>
    void put(E value) { put(static_cast<std::underlying_type_t<E>>(value)); }
    void put(u128 value) {
        put(value.low());
        put(value.high());
    }
    void put(Score value) { put(value.raw()); }
    void put(StakeRoot value) { put(value.packed()); }
    void put(Duration value) { put(value.count()); }
    void put(TimePoint value) { put(value.time_since_epoch()); }
    void put(std::string_view value) {
        count(value.size());
        out_.text(value);
    }
    void put(const std::string& value) { put(std::string_view{value}); }
    void put(const Name& value) { put(value.view()); }
    void put(const Value& value) {
        put(value.num());
        put(value.den());
    }
    void put(const HeldModels& values) {
        count(values.size());
        for (const auto& value : values) {
            put(value.model);
            put(value.holding);
            put(std::uint32_t{value.place});
            put(values.until(&value));
        }
    }
    template <class Tag>
    void put(const Id<Tag>& value) {
        out_.bytes(value.bytes());
    }
    template <class Tag>
    void put(Handle<Tag> value) {
        put(value.value);
    }
    template <class T, std::size_t N>
    void put(const std::array<T, N>& values) {
        for (const auto& value : values) { put(value); }
    }
    template <class T>
    void put(const std::vector<T>& values) {
        list(values);
    }
    template <class T>
    void put(const List<T>& values) {
        list(values);
    }
    template <class T>
    void put(const std::optional<T>& value) {
        put(value.has_value());
        if (value) { put(*value); }
    }
    template <class... Ts>
    void put(const std::variant<Ts...>& value) {
        static_assert(sizeof...(Ts) <= 256, "the number of an alternative is one byte");
        put(static_cast<std::uint8_t>(value.index()));
        std::visit([this](const auto& alternative) { this->put(alternative); }, value);
    }
    template <class... Ps>
    void put(const command::Configure<std::variant<Ps...>>& value) {
        if constexpr (detail::ConfigurationCheck<Ps...>::passed) {
            std::visit(
                [this]<class P>(const P& parameters) {
                    this->put(std::string{type_name<P>()});
                    this->put(parameters);
                },
                value.parameters);
            put(value.rules_version);
        }
    }
    template <has_fields T>
    void put(const T& value) {
        each_field(value, [this](std::string_view, const auto& field) { this->put(field); });
    }

private:
    template <class Values>
    void list(const Values& values) {
        count(values.size());
        for (const auto& value : values) { put(value); }
    }
    void count(std::size_t size) {
        ALLOT_ASSERT(size <= 0xFFFF'FFFFU, "a list or text of 2^32 and more has no encoding");
        put(static_cast<std::uint32_t>(size));
    }

    ByteWriter out_;
};

/// Reads values in the form that `Encoder` writes. A refused value leaves a `DecodeFault` in the reader; the value read
/// then is blank.
///
/// @pre The reader outlives the decoder.
/// @complexity `get` is linear in the bytes read, in time and in memory. A list grows with the bytes read, never with
/// the length that the message claims.
class Decoder {
public:
    /// Reads from `in`.
    explicit Decoder(ByteReader& in) noexcept : in_{&in} {}

    /// Reads one value into `into`; the overloads below do the same for their types.
    template <std::integral I>
    void get(I& into) {
        const auto raw = in_->integer<detail::unsigned_of<I>>();
        if constexpr (std::same_as<I, bool>) {
            check(raw <= 1, DecodeError::flag_invalid);
            into = raw == 1;
        } else {
            into = static_cast<I>(raw);
        }
    }
    template <has_enumerators E>
    void get(E& into) {
        auto raw = std::underlying_type_t<E>{};
        get(raw);
        const auto value = static_cast<E>(raw);
        if (check(!enumerator_name(value).empty(), DecodeError::enumerator_unknown)) { into = value; }
    }
    void get(u128& into) {
        const auto low = in_->integer<std::uint64_t>();
        into = u128::from_parts(in_->integer<std::uint64_t>(), low);
    }
    void get(Score& into) {
        const auto raw = in_->integer<std::uint32_t>();
        into = Score::from_raw(raw);
        check(into.raw() == raw, DecodeError::out_of_range);
    }
    void get(StakeRoot& into) {
        const auto word = in_->integer<std::uint64_t>();
        if (check(StakeRoot::is_packed(word), DecodeError::out_of_range)) { into = StakeRoot::from_packed(word); }
    }
    void get(Duration& into) {
        auto count = Duration::rep{};
        get(count);
        into = Duration{count};
    }
    void get(TimePoint& into) {
        auto since_origin = Duration{};
        get(since_origin);
        into = TimePoint{since_origin};
    }
    void get(std::string& into) {
        const auto bytes = in_->bytes(in_->count());
        into.assign(bytes.begin(), bytes.end());
    }
    void get(Name& into) {
        auto text = std::string{};
        get(text);
        if (check(text.size() <= Name::size_max, DecodeError::out_of_range)) { into = Name{text}; }
    }
    void get(Value& into) {
        auto num = u128{};
        auto den = std::uint32_t{};
        get(num);
        get(den);
        into = Value{num, den};
        check(into.num() == num && into.den() == den, DecodeError::out_of_range);
    }
    void get(HeldModels& into) {
        auto models = std::vector<HeldModel>{};
        auto times = std::vector<TimePoint>{};
        for (auto left = in_->count(); left > 0 && !in_->fault(); --left) {
            auto model = ModelId{};
            auto holding = Holding::wanted;
            auto place = std::uint32_t{};
            get(model);
            get(holding);
            get(place);
            get(times.emplace_back());
            models.emplace_back(model, holding, place);
            check(place <= HeldModel::place_max, DecodeError::out_of_range);
        }
        into = HeldModels(models.size());
        for (std::size_t i = 0; i < models.size(); ++i) {
            into[i] = models[i];
            into.set_until(i, times[i]);
        }
    }
    template <class Tag>
    void get(Id<Tag>& into) {
        auto raw = typename Id<Tag>::Bytes{};
        get(raw);
        into = Id<Tag>{raw};
    }
    template <class Tag>
    void get(Handle<Tag>& into) {
        get(into.value);
    }
    template <class T, std::size_t N>
    void get(std::array<T, N>& into) {
        for (auto& value : into) { get(value); }
    }
    template <class T>
    void get(std::vector<T>& into) {
        list(into);
    }
    template <class T>
    void get(List<T>& into) {
        list(into);
    }
    template <class T>
    void get(std::optional<T>& into) {
        auto present = false;
        get(present);
        into.reset();
        if (present) { get(into.emplace(blank<T>())); }
    }
    template <class... Ts>
    void get(std::variant<Ts...>& into) {
        const auto number = in_->integer<std::uint8_t>();
        if (check(number < sizeof...(Ts), DecodeError::kind_unknown)) {
            boost::mp11::mp_with_index<sizeof...(Ts)>(number, [&](auto i) {
                this->get(into.template emplace<i>(blank<std::variant_alternative_t<i, std::variant<Ts...>>>()));
            });
        }
    }
    template <class... Ps>
    void get(command::Configure<std::variant<Ps...>>& into) {
        if constexpr (detail::ConfigurationCheck<Ps...>::passed) {
            auto name = std::string{};
            get(name);
            const auto known =
                ((name == type_name<Ps>() && (get(into.parameters.template emplace<Ps>()), true)) || ...);
            check(known, DecodeError::parameters_unknown);
            get(into.rules_version);
        }
    }
    template <has_fields T>
    void get(T& into) {
        each_field(into, [this](std::string_view, auto& field) { this->get(field); });
    }

private:
    template <class Values>
    void list(Values& into) {
        into.clear();
        for (auto left = in_->count(); left > 0 && !in_->fault(); --left) {
            into.push_back(blank<typename Values::value_type>());
            get(into.back());
        }
    }
    auto check(bool good, DecodeError otherwise) noexcept -> bool {
        if (!good) { in_->fail(otherwise); }
        return good;
    }

    ByteReader* in_;
};

/// Appends a message to `out`: the version of the encoding and the value, such as a command, an event or a `LogEntry`.
///
/// @pre Each text and list has fewer than 2^32 bytes or elements (asserted).
/// @complexity linear in the message.
template <class T>
void encode_to(std::vector<std::uint8_t>& out, const T& value) {
    auto encoder = Encoder{out};
    encoder.put(encoding_version);
    encoder.put(value);
}

/// Returns the message of a value, as `encode_to` writes it. @complexity linear in the message.
template <class T>
[[nodiscard]] auto encode(const T& value) -> std::vector<std::uint8_t> {
    auto out = std::vector<std::uint8_t>{};
    encode_to(out, value);
    return out;
}

/// Decodes a message from an untrusted sender. `encode` of the result gives the same bytes, because no other bytes are
/// accepted.
///
/// Error: a `DecodeFault` if the message is not in canonical form. `decode` checks the form only. The dispatcher
/// checks the meaning, as for every command: an amount below 2^96, a name within the limits.
/// @complexity linear in the message.
template <class T>
[[nodiscard]] auto decode(std::span<const std::uint8_t> message) -> Result<T, DecodeFault> {
    auto in = ByteReader{message};
    auto value = blank<T>();
    if (in.integer<std::uint8_t>() != encoding_version) { in.fail(DecodeError::version_unknown); }
    Decoder{in}.get(value);
    in.end();
    if (in.fault()) { return FailureOf<DecodeFault>{*in.fault()}; }
    return value;
}

}}  // namespace allot::v0
