#include "wire.hpp"

#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace jobs {
namespace {

namespace m = allot::job_message;

/// Thrown at the first wrong field, caught in `parsed`.
struct Malformed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The list of a type's fields serves to write and to read it: an archive visits the fields in order, in an array.
struct Writer {
    Json out = Json::array();
    template <class... Ts>
    void fields(const Ts&... values) {
        (out.push_back(write(values)), ...);
    }

    template <class T>
    static auto write(const T& value) -> Json;
};

struct Reader {
    const Json& in;
    std::size_t at = 0;

    template <class T>
    [[nodiscard]] auto next() -> T;
    template <class T>
    [[nodiscard]] static auto read(const Json& json) -> T;
    template <class T>
    [[nodiscard]] auto whole() -> T;
};

template <class T>
struct is_vector : std::false_type {};
template <class T>
struct is_vector<std::vector<T>> : std::true_type {
    using inner = T;
};
template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {
    using inner = T;
};
template <class T>
struct is_id : std::false_type {};
template <class Tag>
struct is_id<allot::Id<Tag>> : std::true_type {};

// One entry for each type: its members, in the order of the struct.
template <class T>
struct Shape;

#define JOBS_SHAPE(Type, ...)                                                                                          \
    template <>                                                                                                        \
    struct Shape<Type> {                                                                                               \
        using V = Type;                                                                                                \
        static constexpr auto members = std::tuple{__VA_ARGS__};                                                       \
    };

using Hold = allot::MicroLeases::Grant;
using Item = allot::MicroLeases::Item;

JOBS_SHAPE(allot::MicroKey, &V::macro, &V::micro)
JOBS_SHAPE(allot::FencingToken, &V::epoch, &V::rank, &V::seq)
JOBS_SHAPE(allot::ResultRecord, &V::key, &V::micro, &V::node, &V::wallet, &V::block_hashes, &V::output_uri, &V::token,
           &V::digest, &V::signature)
JOBS_SHAPE(allot::Rejection, &V::digest, &V::key, &V::node, &V::wallet, &V::reason, &V::author, &V::signature)
JOBS_SHAPE(allot::AcceptedResult, &V::digest, &V::node, &V::wallet)
JOBS_SHAPE(allot::MacroRecord, &V::job, &V::macro, &V::epoch, &V::owner, &V::outcome, &V::accepted, &V::verifiers,
           &V::disclosed, &V::unverified, &V::verifier_hash, &V::digest, &V::signature)
JOBS_SHAPE(allot::FinalRecord, &V::job, &V::epoch, &V::owner, &V::outcome, &V::macros, &V::digest, &V::signature)
JOBS_SHAPE(allot::QueueRequest, &V::node, &V::wallet, &V::boot, &V::heard, &V::signature)
JOBS_SHAPE(allot::QueueReign, &V::epoch, &V::owner, &V::boot, &V::parent, &V::taken, &V::began)
JOBS_SHAPE(allot::SignedReign, &V::reign, &V::signature)
JOBS_SHAPE(Hold, &V::holder, &V::token, &V::granted, &V::expires, &V::renewals)
JOBS_SHAPE(Item, &V::key, &V::attempts, &V::not_before, &V::closed, &V::hold)
JOBS_SHAPE(allot::BlockProgress, &V::blocks, &V::commitment, &V::signature)
JOBS_SHAPE(allot::LeaseGiven, &V::micro, &V::holder, &V::token, &V::withheld, &V::progress)
JOBS_SHAPE(allot::Commitment, &V::digest, &V::key, &V::node, &V::token, &V::signature)
JOBS_SHAPE(allot::QueueControl, &V::chain, &V::revision, &V::clock, &V::progress, &V::tokens, &V::disclosed, &V::items,
           &V::accepted, &V::requests, &V::given, &V::signature)
JOBS_SHAPE(allot::JobAuthorities, &V::poster, &V::referee, &V::contract)
JOBS_SHAPE(allot::Slicing, &V::macro_count, &V::workers_per_macro, &V::verifiers_per_macro, &V::blocks_per_micro,
           &V::checked_blocks_per_worker)
JOBS_SHAPE(allot::ClaimBid, &V::node, &V::mark)
JOBS_SHAPE(m::QueueSnapshot, &V::job, &V::macro, &V::whole, &V::control, &V::commitments, &V::results, &V::rejected,
           &V::records, &V::final)
JOBS_SHAPE(m::OwnershipRequest, &V::job, &V::macro, &V::node, &V::wallet, &V::boot, &V::signature)
JOBS_SHAPE(m::ResultCommitted, &V::job, &V::commitment)
JOBS_SHAPE(m::ResultFound, &V::job, &V::record)
JOBS_SHAPE(m::RenewalRequest, &V::job, &V::key, &V::node, &V::token, &V::progress)
JOBS_SHAPE(m::LeaseReturned, &V::job, &V::key, &V::node, &V::token)
JOBS_SHAPE(m::ContradictionFound, &V::job, &V::macro, &V::one, &V::other)
JOBS_SHAPE(m::JobsQuery, &V::node)
JOBS_SHAPE(m::JobPosted, &V::plan, &V::signature)
JOBS_SHAPE(m::MacrosQuery, &V::job, &V::node)
JOBS_SHAPE(m::MacroNews, &V::job, &V::macro, &V::node, &V::epoch, &V::open, &V::records, &V::rejected)
JOBS_SHAPE(m::MicroDone, &V::job, &V::key, &V::node, &V::digest)
JOBS_SHAPE(m::JobEnded, &V::record)
JOBS_SHAPE(m::ClaimIntent, &V::claim, &V::bid)
JOBS_SHAPE(m::VoteRequest, &V::claim, &V::bid)
JOBS_SHAPE(m::Vote, &V::claim, &V::bid, &V::voter)
JOBS_SHAPE(Stored, &V::job, &V::record)
JOBS_SHAPE(EscrowAsk, &V::records, &V::as)
JOBS_SHAPE(allot::Settlement, &V::job, &V::settled, &V::settled_as, &V::culprits)
JOBS_SHAPE(Deal, &V::job, &V::key, &V::blocks)
JOBS_SHAPE(Refused, &V::what, &V::times)
JOBS_SHAPE(Report, &V::doing, &V::refused, &V::last, &V::ends, &V::reconnects, &V::resumed, &V::proven)
JOBS_SHAPE(allot::RecomputedBlock, &V::block, &V::input, &V::output, &V::author, &V::signature)
JOBS_SHAPE(Proof::Judged, &V::record, &V::results)
JOBS_SHAPE(Proof, &V::posted, &V::seed, &V::blocks, &V::judged, &V::rejected, &V::final)
JOBS_SHAPE(Saved, &V::posted, &V::snapshots)

#undef JOBS_SHAPE

/// Reads a plan; refuses an incomplete one.
template <>
struct Shape<allot::JobPlan> {
    static void write(Writer& w, const allot::JobPlan& p) {
        w.fields(p.job(), p.slicing(), p.code_uri(), p.data_uri(), p.macro_ids(), p.micro_ids(), p.authorities());
    }
    static auto read(Reader& r) -> allot::JobPlan {
        const auto job = r.next<allot::JobId>();
        const auto slicing = r.next<allot::Slicing>();
        auto code = r.next<std::string>();
        auto data = r.next<std::string>();
        auto macros = r.next<std::vector<allot::Hash256>>();
        auto micros = r.next<std::vector<allot::Hash256>>();
        auto plan = allot::JobPlan::from_parts(job, slicing, std::move(code), std::move(data), std::move(macros),
                                               std::move(micros), r.next<allot::JobAuthorities>());
        if (!plan) { throw Malformed{std::string{message(plan.error())}}; }
        return *plan;
    }
};

template <class T>
auto Writer::write(const T& value) -> Json {
    if constexpr (std::is_same_v<T, std::string> || std::is_arithmetic_v<T>) {
        return value;
    } else if constexpr (std::is_enum_v<T>) {
        return static_cast<std::uint32_t>(value);
    } else if constexpr (std::is_same_v<T, allot::TimePoint>) {
        return value.time_since_epoch().count();
    } else if constexpr (std::is_same_v<T, allot::Hash256>) {
        return allot::hex_of(value);
    } else if constexpr (is_id<T>::value) {
        return value.hex();
    } else if constexpr (is_optional<T>::value) {
        return value ? Json::array({write(*value)}) : Json::array();
    } else if constexpr (is_vector<T>::value) {
        auto out = Json::array();
        for (const auto& element : value) { out.push_back(write(element)); }
        return out;
    } else {
        auto writer = Writer{};
        if constexpr (requires { Shape<T>::members; }) {
            std::apply([&](auto... member) { writer.fields(value.*member...); }, Shape<T>::members);
        } else {
            Shape<T>::write(writer, value);
        }
        return std::move(writer.out);
    }
}

template <class T>
auto Reader::next() -> T {
    if (!in.is_array() || at >= in.size()) { throw Malformed{"a field is missing"}; }
    return read<T>(in[at++]);
}

template <class T>
auto Reader::read(const Json& json) -> T {
    if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, bool>) {
        return json.get<T>();
    } else if constexpr (std::is_unsigned_v<T>) {
        if (!json.is_number_unsigned()) { throw Malformed{"a number is not whole, or below zero"}; }
        const auto wide = json.get<std::uint64_t>();
        if (static_cast<T>(wide) != wide) { throw Malformed{"a number is out of range"}; }
        return static_cast<T>(wide);
    } else if constexpr (std::is_same_v<T, allot::JobOutcome> || std::is_same_v<T, allot::RejectReason>) {
        const auto number = read<std::uint32_t>(json);
        if (number > (std::is_same_v<T, allot::JobOutcome> ? 1U : 2U)) { throw Malformed{"an enumerator is unknown"}; }
        return static_cast<T>(number);
    } else if constexpr (std::is_same_v<T, allot::TimePoint>) {
        if (!json.is_number_integer()) { throw Malformed{"a time is not whole"}; }
        const auto count = json.get<std::int64_t>();
        if (json.is_number_unsigned() && count < 0) { throw Malformed{"a time is out of range"}; }
        return T{allot::Duration{count}};
    } else if constexpr (std::is_same_v<T, allot::Hash256>) {
        return read<allot::JobId>(json).bytes();
    } else if constexpr (is_id<T>::value) {
        const auto id = T::from_hex(json.get<std::string>());
        if (!id) { throw Malformed{"an id is not 64 hex digits"}; }
        return *id;
    } else if constexpr (is_optional<T>::value) {
        if (!json.is_array() || json.size() > 1) { throw Malformed{"an optional has one element or none"}; }
        return json.empty() ? T{} : T{read<typename is_optional<T>::inner>(json[0])};
    } else if constexpr (is_vector<T>::value) {
        if (!json.is_array()) { throw Malformed{"a list is no array"}; }
        auto out = T{};
        for (const auto& element : json) { out.push_back(read<typename is_vector<T>::inner>(element)); }
        return out;
    } else {
        auto reader = Reader{json};
        auto value = reader.whole<T>();
        if (reader.at != json.size()) { throw Malformed{"a field too many"}; }
        return value;
    }
}

template <class T>
auto Reader::whole() -> T {
    if constexpr (requires { Shape<T>::members; }) {
        // Braces evaluate from the left.
        return std::apply(
            [&](auto... member) { return T{next<std::remove_cvref_t<decltype(std::declval<T&>().*member)>>()...}; },
            Shape<T>::members);
    } else {
        return Shape<T>::read(*this);
    }
}

template <class T>
auto parsed(const std::string& text) -> std::optional<T> {
    try {
        return Reader::read<T>(Json::parse(text));
    } catch (const Json::exception&) { return std::nullopt; } catch (const Malformed&) {
        return std::nullopt;
    }
}

/// Reads the alternative of this number.
template <std::size_t I = 0>
auto alternative(std::uint64_t number, const Json& json) -> allot::JobMessage {
    if constexpr (I == std::variant_size_v<allot::JobMessage>) {
        throw Malformed{"a message of an unknown kind"};
    } else {
        if (number == I) { return Reader::read<std::variant_alternative_t<I, allot::JobMessage>>(json); }
        return alternative<I + 1>(number, json);
    }
}

constexpr auto version = 4U;

}  // namespace

auto encode(const allot::JobMessage& message) -> std::string {
    return std::visit(
        [&](const auto& body) {
            return Json::array({version, message.index(), Writer::write(body)}).dump();
        },
        message);
}
auto decode(const std::string& text) -> std::optional<allot::JobMessage> {
    try {
        const auto json = Json::parse(text);
        if (!json.is_array() || json.size() != 3 || Reader::read<std::uint32_t>(json[0]) != version) {
            return std::nullopt;
        }
        return alternative(Reader::read<std::uint64_t>(json[1]), json[2]);
    } catch (const Json::exception&) { return std::nullopt; } catch (const Malformed&) {
        return std::nullopt;
    }
}

auto encode(const Stored& stored) -> std::string { return Writer::write(stored).dump(); }
auto encode(const EscrowAsk& ask) -> std::string { return Writer::write(ask).dump(); }
auto encode(const allot::Settlement& settlement) -> std::string { return Writer::write(settlement).dump(); }
auto encode(const Deal& deal) -> std::string { return Writer::write(deal).dump(); }
auto encode(const Report& report) -> std::string { return Writer::write(report).dump(); }
auto encode(const Proof& proof) -> std::string { return Writer::write(proof).dump(); }
auto encode(const std::vector<Saved>& saved) -> std::string { return Writer::write(saved).dump(); }
auto decode_stored(const std::string& text) -> std::optional<Stored> { return parsed<Stored>(text); }
auto decode_ask(const std::string& text) -> std::optional<EscrowAsk> { return parsed<EscrowAsk>(text); }
auto decode_settlement(const std::string& text) -> std::optional<allot::Settlement> {
    return parsed<allot::Settlement>(text);
}
auto decode_deal(const std::string& text) -> std::optional<Deal> { return parsed<Deal>(text); }
auto decode_report(const std::string& text) -> std::optional<Report> { return parsed<Report>(text); }
auto decode_proof(const std::string& text) -> std::optional<Proof> { return parsed<Proof>(text); }
auto decode_saved(const std::string& text) -> std::optional<std::vector<Saved>> {
    return parsed<std::vector<Saved>>(text);
}

}  // namespace jobs
