// error: allot: a sink of bytes needs `auto sync\(\) -> std::optional<IoError>`
#include <allot/journal/log.hpp>

struct Sink {
    auto append(std::span<const std::uint8_t>) -> std::optional<allot::IoError>;
};

int main() {
    auto sink = Sink{};
    auto writer = allot::LogWriter{sink};
    (void)writer.append({});
}
