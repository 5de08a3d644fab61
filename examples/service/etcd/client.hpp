#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "etcd.grpc.pb.h"
#include "tls.hpp"

namespace service::etcd {

namespace pb = etcdserverpb;

/// One member of etcd.
struct Member {
    std::string address;
    std::unique_ptr<pb::KV::Stub> kv;
    std::unique_ptr<pb::Watch::Stub> watch;
    std::unique_ptr<pb::Lease::Stub> lease;
};

/// Talks to one member of etcd, and goes to the next one when it fails. Any thread may call.
class Client {
public:
    static constexpr auto call_time_max = std::chrono::milliseconds{1'500};

    /// `addresses` are HOST:PORT.
    explicit Client(const std::vector<std::string>& addresses, const Tls& tls = {});

    /// Calls `call(member, context)`, which returns a `grpc::Status`. A call that is not answered in `call_time_max`
    /// has failed, and may have taken effect.
    template <class Call>
    auto ask(Call&& call) -> grpc::Status {
        const auto used = current();
        auto context = grpc::ClientContext{};
        context.set_deadline(std::chrono::system_clock::now() + call_time_max);
        context.set_wait_for_ready(true);  // connections are made only while a call waits
        const auto status = call(members_[used], context);
        note(used, status);
        return status;
    }

    /// The member that calls go to now.
    [[nodiscard]] auto current() const -> std::size_t { return current_; }
    [[nodiscard]] auto members() const -> const std::vector<Member>& { return members_; }
    /// Takes a call's result into account: after a failure, further calls go to the next member.
    void note(std::size_t used, const grpc::Status& status);
    /// The sentence of the last failure; empty after a success.
    [[nodiscard]] auto trouble() const -> std::string;

private:
    std::vector<Member> members_{};
    std::atomic<std::size_t> current_ = 0;
    std::atomic<bool> is_troubled_ = false;
    mutable std::mutex mutex_{};
    std::string trouble_{};
};

/// The first key behind all keys that begin with `prefix`, which does not end with byte 255.
[[nodiscard]] auto end_of(std::string prefix) -> std::string;
/// A condition: the key does not exist.
[[nodiscard]] auto is_absent(const std::string& key) -> pb::Compare;
[[nodiscard]] auto put(const std::string& key, const std::string& value) -> pb::RequestOp;
[[nodiscard]] auto get(const std::string& key) -> pb::RequestOp;

}  // namespace service::etcd
