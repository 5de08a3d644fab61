#include "broker.hpp"

#include <algorithm>
#include <stdexcept>
#include <thread>

#include <mosquitto.h>

namespace jobs {

using namespace std::chrono_literals;

void Broker::Free::operator()(mosquitto* client) const {
    mosquitto_disconnect(client);
    mosquitto_destroy(client);
}

Broker::Broker(std::string name, const std::string& password, int port) : name_{std::move(name)}, port_{port} {
    static const auto library = mosquitto_lib_init();
    if (library != MOSQ_ERR_SUCCESS) { throw std::runtime_error{"libmosquitto does not start; reinstall it"}; }
    client_.reset(mosquitto_new(nullptr, true, this));
    if (!client_) { throw std::runtime_error{"no memory for an MQTT client"}; }
    mosquitto_username_pw_set(client_.get(), name_.c_str(), password.c_str());
    mosquitto_int_option(client_.get(), MOSQ_OPT_TCP_NODELAY, 1);
    // Nothing may throw through the C library: what arrives is kept, and heard in `poll`.
    mosquitto_message_callback_set(client_.get(), [](mosquitto*, void* self, const mosquitto_message* message) {
        static_cast<Broker*>(self)->received_.emplace_back(
            message->topic,
            std::string{static_cast<const char*>(message->payload), static_cast<std::size_t>(message->payloadlen)});
    });
    mosquitto_connect_callback_set(
        client_.get(), [](mosquitto*, void* self, int code) { static_cast<Broker*>(self)->on_connected(code); });
    const auto give_up = std::chrono::steady_clock::now() + 60s;
    while (!connected_) {
        loop(20);
        if (std::chrono::steady_clock::now() > give_up) {
            throw std::runtime_error{name_ + " finds no broker on port " + std::to_string(port_) +
                                     "; look into broker.log whether it runs"};
        }
    }
}

void Broker::on_connected(int code) {
    if (code != 0) {
        refused_ = true;
        return;
    }
    connected_ = true;
    ++reconnects_;
    for (const auto& channel : channels_) { mosquitto_subscribe(client_.get(), nullptr, channel.c_str(), 0); }
}

void Broker::listen(const std::string& channel) {
    if (std::find(channels_.begin(), channels_.end(), channel) != channels_.end()) { return; }
    channels_.push_back(channel);
    if (connected_) { mosquitto_subscribe(client_.get(), nullptr, channel.c_str(), 0); }
}

void Broker::say(const std::string& channel, const std::string& text) {
    if (!connected_) { return; }
    mosquitto_publish(client_.get(), nullptr, channel.c_str(), static_cast<int>(text.size()), text.data(), 0, false);
}

void Broker::connect_again() {
    const auto time = std::chrono::steady_clock::now();
    if (time < next_try_) { return; }
    next_try_ = time + 100ms;
    mosquitto_connect(client_.get(), "127.0.0.1", port_, 30);  // it may fail: then it is tried again
}

void Broker::loop(int wait_ms) {
    if (mosquitto_loop(client_.get(), wait_ms, 1) == MOSQ_ERR_SUCCESS) { return; }
    if (refused_) { throw std::runtime_error{"the broker refuses the password of " + name_ + "; start it anew"}; }
    connected_ = false;
    connect_again();
    std::this_thread::sleep_for(std::chrono::milliseconds{std::min(wait_ms, 20)});
}

void Broker::poll(int wait_ms, const Hear& hear) {
    loop(wait_ms);
    for (auto more = 0; more < 64 && received_.size() > static_cast<std::size_t>(more); ++more) { loop(0); }
    while (!received_.empty()) {
        const auto [channel, text] = std::move(received_.front());
        received_.pop_front();
        hear(channel, text);
    }
}

}  // namespace jobs
