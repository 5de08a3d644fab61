// error: allot: a log that is to be recovered needs `void seek\(std::uint64_t bytes\)`
#include <allot/journal/log.hpp>

struct File {
    auto append(std::span<const std::uint8_t>) -> std::optional<allot::IoError>;
    auto sync() -> std::optional<allot::IoError>;
    auto read(std::span<std::uint8_t>) -> allot::Result<std::size_t, allot::IoError>;
    auto cut(std::uint64_t) -> std::optional<allot::IoError>;
};

int main() {
    auto file = File{};
    (void)allot::recover(file, [](const allot::LogRecord&) {});
}
