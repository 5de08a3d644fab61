#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <allot/core/fields.hpp>
#include <allot/core/id.hpp>
#include <allot/core/time.hpp>
#include <allot/core/units.hpp>
#include <allot/replica/entry.hpp>
#include <allot/result.hpp>

#include "problem.hpp"

namespace service {

/// The parties that a client may speak for.
enum class Role : std::uint8_t {
    op,     ///< The operator: all nodes, all owners, and the parameters. Written "op".
    node,   ///< One node.
    owner,  ///< One owner of tasks.
};
ALLOT_ENUMERATORS(Role, op, node, owner)

/// One line of the clients' file.
struct ClientLine {
    std::string client{};  ///< Name of the client, as in the header `Allot-Client`.
    std::string secret{};  ///< By which signatures are checked, such as a shared secret: 16 characters or more.
    Role role = Role::op;
    std::optional<allot::NodeId> node{};       ///< Of a node's client: its node.
    std::optional<allot::OwnerId> owner{};     ///< Of an owner's client: its owner.
    std::optional<allot::Amount> stake_max{};  ///< Of a node's client: the stake that the operator has seen.
    std::uint32_t tokens_per_s = 0;            ///< Rate of its requests; 0: the default of its role.
};
ALLOT_FIELDS(ClientLine, client, secret, role, node, owner, stake_max, tokens_per_s)

/// A client with its budget. A command costs a token; reads cost more where they take longer.
struct Client {
    ClientLine line{};
    allot::ClientId id = allot::ClientId::null();
    std::int64_t tokens = 0;  ///< In thousandths.
    std::int64_t refilled_ms = 0;
    std::uint32_t streams = 0;  ///< Open streams.

    [[nodiscard]] auto is_operator() const noexcept -> bool { return line.role == Role::op; }
    /// Takes tokens. Returns the seconds until there are enough; 0 if they were taken.
    [[nodiscard]] auto take(std::uint32_t cost, std::int64_t now_ms) -> unsigned;
};

/// The parts of a request that a client signs.
struct Signed {
    std::string_view method{};
    std::string_view target{};
    std::string_view client{};
    std::string_view time{};
    std::string_view session{};
    std::string_view seq{};
    std::string_view body{};
    std::string_view signature{};
};

/// What a client signs: method, target, time, session and seq, each with a line end, then the body.
[[nodiscard]] auto signed_text(const Signed& parts) -> std::string;

/// Tells whether the client of a line signed a request. It takes as long for a wrong signature as for a right one.
using SignatureCheck = std::function<bool(const ClientLine& line, const Signed& parts)>;
/// The built-in check: the signature is HMAC-SHA256 of `signed_text` with the shared secret, as 64 hex digits.
[[nodiscard]] auto is_signed_with_secret(const ClientLine& line, const Signed& parts) -> bool;

/// The clients that the service knows, by name.
class Clients {
public:
    /// Without a file: one client, the operator, who need not sign.
    Clients();
    /// Reads JSON Lines of `ClientLine`. Error: a sentence with the line.
    [[nodiscard]] static auto read(std::string_view text, SignatureCheck is_signed = is_signed_with_secret)
        -> allot::Result<Clients, std::string>;

    /// The client that signed, or a problem of status 401. The service's clock decides how old a signature may be.
    [[nodiscard]] auto authenticate(const Signed& parts, std::int64_t now_ms, Problem& problem) -> Client*;
    [[nodiscard]] auto is_open() const noexcept -> bool { return is_open_; }

private:
    std::map<std::string, Client, std::less<>> clients_{};
    SignatureCheck is_signed_{};
    bool is_open_ = true;
};

/// HMAC-SHA256 as 64 hex digits.
[[nodiscard]] auto hmac_hex(std::string_view secret, std::string_view message) -> std::string;

}  // namespace service
