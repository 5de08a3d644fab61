#include "broker.hpp"

#include <stdexcept>
#include <utility>

#include <mosquitto.h>

namespace jobs {
namespace {

void check(int code, const std::string& doing) {
    if (code != MOSQ_ERR_SUCCESS) { throw std::runtime_error{doing + ": " + mosquitto_strerror(code)}; }
}

}  // namespace

void Broker::Free::operator()(mosquitto* client) const {
    mosquitto_disconnect(client);
    mosquitto_destroy(client);
}

Broker::Broker(std::string name, int port) : name_{std::move(name)} {
    static const auto library = mosquitto_lib_init();
    check(library, "starting libmosquitto");
    client_.reset(mosquitto_new(nullptr, true, this));
    if (!client_) { throw std::runtime_error{"no memory for an MQTT client"}; }
    mosquitto_message_callback_set(client_.get(), [](mosquitto*, void* self, const mosquitto_message* message) {
        auto& broker = *static_cast<Broker*>(self);
        const auto text =
            std::string{static_cast<const char*>(message->payload), static_cast<std::size_t>(message->payloadlen)};
        const auto end = text.find('\n');  // the first line is the sender's name
        if (end == std::string::npos || text.substr(0, end) == broker.name_ || !broker.hear_) { return; }
        broker.hear_(message->topic, text.substr(end + 1));
    });
    check(mosquitto_connect(client_.get(), "127.0.0.1", port, 30), "connecting to the broker");
}

void Broker::listen(const std::string& channel) {
    check(mosquitto_subscribe(client_.get(), nullptr, channel.c_str(), 0), "subscribing to " + channel);
}

void Broker::say(const std::string& channel, const std::string& text) {
    const auto payload = name_ + "\n" + text;
    check(mosquitto_publish(client_.get(), nullptr, channel.c_str(), static_cast<int>(payload.size()), payload.data(),
                            0, false),
          "publishing on " + channel);
}

void Broker::poll(int wait_ms, const Hear& hear) {
    hear_ = hear;
    check(mosquitto_loop(client_.get(), wait_ms, 1), "talking to the broker");
    hear_ = nullptr;
}

}  // namespace jobs
