// error: allot: a source of bytes needs `auto read\(std::span<std::uint8_t>\) -> Result<std::size_t, IoError>`
#include <allot/journal/log.hpp>

struct Source {
    auto read(std::span<std::uint8_t>) -> std::size_t;
};

int main() {
    auto source = Source{};
    auto reader = allot::LogReader{source};
    (void)reader.next();
}
