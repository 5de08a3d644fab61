// error: allot: two policies' Parameters have the same name, which their encoding goes by; rename one
#include <allot/journal/encode.hpp>

namespace one {
struct Parameters { int tickets = 1; };
ALLOT_FIELDS(Parameters, tickets)
}  // namespace one
namespace other {
struct Parameters { int tickets = 1; };
ALLOT_FIELDS(Parameters, tickets)
}  // namespace other

int main() {
    using Both = std::variant<one::Parameters, other::Parameters>;
    return static_cast<int>(allot::encode(allot::command::Configure<Both>{}).size());
}
