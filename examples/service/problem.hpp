#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <allot/json.hpp>

namespace service {

/// An error that a client is told, as a problem document (RFC 7807). `detail` says what to do.
struct Problem {
    unsigned status = 500;
    std::string type{};  ///< A stable word, such as "gap".
    std::string detail{};
    unsigned retry_after_s = 0;  ///< Of 429 and 503: seconds after which a new try makes sense.

    [[nodiscard]] auto json() const -> allot::Json {
        auto out = allot::Json::object();
        out["type"] = "urn:allot:problem:" + type;
        out["title"] = title();
        out["status"] = status;
        out["detail"] = detail;
        return out;
    }
    [[nodiscard]] auto title() const -> std::string_view {
        switch (status) {
            case 400: return "Bad Request";
            case 401: return "Unauthorized";
            case 403: return "Forbidden";
            case 404: return "Not Found";
            case 405: return "Method Not Allowed";
            case 409: return "Conflict";
            case 410: return "Gone";
            case 413: return "Content Too Large";
            case 415: return "Unsupported Media Type";
            case 422: return "Unprocessable Content";
            case 429: return "Too Many Requests";
            case 431: return "Request Header Fields Too Large";
            case 503: return "Service Unavailable";
            case 504: return "Gateway Timeout";
            default: return "Internal Server Error";
        }
    }
};

}  // namespace service
