#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <variant>

#include <allot/job/job_effects.hpp>
#include <allot/job/job_error.hpp>
#include <allot/job/job_message.hpp>
#include <allot/job/signature.hpp>

namespace allot { inline namespace v0 {

// A message comes from one member, and relays statements of others. The name that a message gives its sender must be
// the sender's own. Each statement that is relayed has its own author, and its author's signature over its digest.

/// Returns the member that a message names as its sender; null if it names none. @complexity O(1).
[[nodiscard]] inline auto sender_named(const JobMessage& message) -> const NodeId* {
    return std::visit(
        [](const auto& m) -> const NodeId* {
            if constexpr (requires { m.voter; }) {
                return &m.voter;
            } else if constexpr (requires { m.bid.node; }) {
                return &m.bid.node;
            } else if constexpr (requires { m.commitment; }) {
                return &m.commitment.node;
            } else if constexpr (requires { m.record.node; }) {
                return &m.record.node;
            } else if constexpr (requires { m.node; }) {
                return &m.node;
            } else {
                return nullptr;
            }
        },
        message);
}

/// Returns the job that a message is about; null if it is about none. @complexity O(1).
[[nodiscard]] inline auto job_named(const JobMessage& message) -> const JobId* {
    return std::visit(
        [](const auto& m) -> const JobId* {
            if constexpr (requires { m.job; }) {
                return &m.job;
            } else if constexpr (requires { m.record.job; }) {
                return &m.record.job;
            } else {
                return nullptr;
            }
        },
        message);
}

namespace detail {

template <class Control, class F>
auto for_each_statement(Control& control, const JobId& job, std::uint32_t macro, F& f) -> void {
    if (control.chain.empty()) { return; }
    for (std::size_t i = 0; i < control.chain.size(); ++i) {
        auto& reign = control.chain[i];
        f(reign, author_of(control.chain, i), [&] { return digest_of(job, macro, reign.reign); });
    }
    f(control, author_of(control), [&] { return digest_of(job, macro, control); });
    for (auto& request : control.requests) {
        f(request, request.node, [&] { return digest_of(job, macro, request); });
    }
    for (auto& lease : control.given) {
        if (lease.progress.blocks == 0) { continue; }
        f(lease.progress, lease.holder, [&] {
            return digest_of(job, {macro, lease.micro}, lease.token, lease.progress);
        });
    }
}

}  // namespace detail

/// Calls `f(statement, author, digest)` for each statement that a message relays, where `digest()` computes the digest
/// to be signed. `authorities` are those of the job. @complexity linear in the message.
template <class Message, class F>
auto for_each_statement(Message& message, const JobAuthorities& authorities, F&& f) -> void {
    std::visit(
        [&](auto& m) {
            const auto relay_all = [&](auto& statements, const auto& author_of_one) {
                for (auto& s : statements) {
                    f(s, author_of_one(s), [&] { return s.digest; });
                }
            };
            const auto final = [&](auto& record) {
                f(record, authorities.contract.is_null() ? record.owner : authorities.contract,
                  [&] { return record.digest; });
            };
            if constexpr (requires { m.control; }) {
                if (m.control) { detail::for_each_statement(*m.control, m.job, m.macro, f); }
                for (auto& c : m.commitments) {
                    f(c, c.node, [&] { return digest_of(m.job, c); });
                }
                relay_all(m.results, [](const auto& r) -> const NodeId& { return r.node; });
                if (m.final) { final(*m.final); }
            }
            if constexpr (requires { m.records; }) {
                relay_all(m.records, [](const auto& r) -> const NodeId& { return r.owner; });
                for (auto& r : m.rejected) {
                    f(r, r.author, [&] { return digest_of(m.job, r); });
                }
            }
            using M = std::remove_cvref_t<decltype(m)>;
            if constexpr (std::is_same_v<M, job_message::ContradictionFound>) {
                detail::for_each_statement(m.one, m.job, m.macro, f);
                detail::for_each_statement(m.other, m.job, m.macro, f);
            }
            if constexpr (std::is_same_v<M, job_message::OwnershipRequest>) {
                f(m, m.node, [&] { return digest_of(m.job, m.macro, m); });
            }
            if constexpr (std::is_same_v<M, job_message::RenewalRequest>) {
                f(m.progress, m.node, [&] { return digest_of(m.job, m.key, m.token, m.progress); });
            }
            if constexpr (std::is_same_v<M, job_message::ResultCommitted>) {
                f(m.commitment, m.commitment.node, [&] { return digest_of(m.job, m.commitment); });
            }
            if constexpr (std::is_same_v<M, job_message::ResultFound>) {
                f(m.record, m.record.node, [&] { return m.record.digest; });
            }
            if constexpr (std::is_same_v<M, job_message::JobEnded>) { final(m.record); }
            if constexpr (std::is_same_v<M, job_message::JobPosted>) {
                f(m, m.plan.authorities().poster, [&] { return m.plan.digest(); });
            }
        },
        message);
}

/// Signs a node's own statements in a message that it is about to send: `sign(digest)` returns its signature.
/// @complexity linear in the message, and a signature for each own statement without one.
template <class Sign>
auto sign_own(JobMessage& message, const NodeId& self, const Sign& sign) -> void {
    for_each_statement(message, JobAuthorities{}, [&](auto& statement, const NodeId& author, const auto& digest) {
        if (author == self && statement.signature.empty()) { statement.signature = sign(digest()); }
    });
}

/// As above, for all that a node is about to say by these effects: to the other members, to the store, and, by events,
/// to the escrow. Call it for each effects of a state machine, unless all members trust each other.
/// @complexity as above, for the sum of all.
template <class Sign>
auto sign_own(JobEffects& effects, const NodeId& self, const Sign& sign) -> void {
    const auto sign_one = [&](auto& statement, const NodeId& author) {
        if (author == self && statement.signature.empty()) { statement.signature = sign(statement.digest); }
    };
    for (auto& send : effects.sends) { sign_own(send.message, self, sign); }
    for (auto& write : effects.writes) { sign_one(write.record, write.record.node); }
    for (auto& event : effects.events) {
        std::visit(
            [&](auto& e) {
                if constexpr (requires { e.as; }) {
                    for (auto& record : e.records) { sign_one(record, record.owner); }
                    sign_one(e.as, e.as.owner);
                } else if constexpr (requires { e.record; }) {
                    sign_one(e.record, e.record.owner);
                }
            },
            event);
    }
}

/// Returns the first fault in the authors of a message from `sender` about a job: `author_wrong` if it names another
/// sender, `author_without_right` for a verdict that its author may not give, `message_too_large` for a signature that
/// is too long, and `author_unproven` if `check` refuses one. None if there is no fault.
/// @complexity linear in the message, and a check for each statement.
template <AuthorCheck Check>
[[nodiscard]] auto fault_of_authors(const JobAuthorities& authorities, const NodeId& sender, const JobMessage& message,
                                    const Check& check) -> std::optional<JobError> {
    if (const auto* named = sender_named(message); named != nullptr && *named != sender) {
        return JobError::author_wrong;
    }
    auto fault = std::optional<JobError>{};
    for_each_statement(message, authorities, [&](const auto& statement, const NodeId& author, const auto& digest) {
        if (fault) { return; }
        using S = std::remove_cvref_t<decltype(statement)>;
        if constexpr (std::is_same_v<S, Rejection>) {
            if (!authorities.may_reject(author)) { fault = JobError::author_without_right; }
        }
        if (statement.signature.size() > signature_size_max) { fault = JobError::message_too_large; }
        if constexpr (!std::is_same_v<Check, TrustAuthors>) {
            const auto unnamed = std::is_same_v<S, job_message::JobPosted> && author.is_null();
            if (!fault && !unnamed && !check(author, digest(), statement.signature)) {
                fault = JobError::author_unproven;
            }
        }
    });
    return fault;
}

}}  // namespace allot::v0
