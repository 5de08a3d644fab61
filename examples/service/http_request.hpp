#pragma once

#include <string>
#include <utility>

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include "front.hpp"

namespace service {

/// The parts of a request that the front reads.
inline auto request_of(boost::beast::http::request<boost::beast::http::string_body> message) -> HttpRequest {
    const auto field = [&](const char* name) { return std::string{message[name]}; };
    return {std::string{message.method_string()},
            std::string{message.target()},
            std::move(message.body()),
            field("Content-Type"),
            field("Allot-Client"),
            field("Allot-Time"),
            field("Allot-Signature"),
            field("Allot-Session"),
            field("Allot-Seq"),
            field("Last-Event-ID"),
            field("Host"),
            field("Origin")};
}

}  // namespace service
