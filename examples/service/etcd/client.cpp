#include "client.hpp"

#include <algorithm>

namespace service::etcd {

Client::Client(const std::vector<std::string>& addresses, const Tls& tls) {
    const auto credentials = tls.roots.empty() ? grpc::InsecureChannelCredentials()
                                               : grpc::SslCredentials({tls.roots, tls.key, tls.certificate});
    for (const auto& address : addresses) {
        auto arguments = grpc::ChannelArguments{};
        arguments.SetMaxReceiveMessageSize(-1);  // else a long answer ends a watch
        // The smallest wait for a new connection is also the time that a connection may take.
        arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
        arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 2'000);
        arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1'000);
        const auto channel = grpc::CreateCustomChannel(address, credentials, arguments);
        members_.push_back(
            {address, pb::KV::NewStub(channel), pb::Watch::NewStub(channel), pb::Lease::NewStub(channel)});
    }
}

void Client::note(std::size_t used, const grpc::Status& status) {
    if (status.ok()) {
        is_troubled_ = false;
        return;
    }
    // Threads that failed at the same member move on once.
    auto expected = used;
    current_.compare_exchange_strong(expected, (used + 1) % members_.size());
    const auto lock = std::lock_guard{mutex_};
    trouble_ = members_[used].address + ": " + status.error_message();
    is_troubled_ = true;
}

auto Client::trouble() const -> std::string {
    if (!is_troubled_) { return {}; }
    const auto lock = std::lock_guard{mutex_};
    return trouble_;
}

auto end_of(std::string prefix) -> std::string {
    prefix.back() = static_cast<char>(prefix.back() + 1);
    return prefix;
}

auto is_absent(const std::string& key) -> pb::Compare {
    auto out = pb::Compare{};
    out.set_target(pb::Compare::CREATE);
    out.set_key(key);
    out.set_create_revision(0);
    return out;
}

auto put(const std::string& key, const std::string& value) -> pb::RequestOp {
    auto out = pb::RequestOp{};
    out.mutable_request_put()->set_key(key);
    out.mutable_request_put()->set_value(value);
    return out;
}

auto get(const std::string& key) -> pb::RequestOp {
    auto out = pb::RequestOp{};
    out.mutable_request_range()->set_key(key);
    return out;
}

}  // namespace service::etcd
