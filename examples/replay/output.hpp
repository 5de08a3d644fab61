#pragma once

#include <cstdint>
#include <iostream>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>

#include <allot/journal/log_io.hpp>

namespace replay {

/// Standard output, for lines and as a sink of bytes for `allot::LogWriter`. Reports failed writes.
class Output {
public:
    void line(std::string_view text) {
        std::cout << text << '\n';
        check();
    }
    void flush() {
        std::cout.flush();
        check();
    }

    [[nodiscard]] auto append(std::span<const std::uint8_t> bytes) -> std::optional<allot::IoError> {
        std::cout.write(reinterpret_cast<const char*>(bytes.data()),
                        static_cast<std::streamsize>(bytes.size()));  // NOLINT
        check();
        return std::nullopt;
    }
    [[nodiscard]] auto sync() -> std::optional<allot::IoError> {
        flush();
        return std::nullopt;
    }

private:
    static void check() {
        if (!std::cout) { throw std::runtime_error{"standard output: cannot be written"}; }
    }
};

}  // namespace replay
