// error: allot: to be encoded, a policy's Parameters need a list of their fields; write `ALLOT_FIELDS\(MyParameters, first, second\)` beside them
#include <allot/journal/encode.hpp>

struct Unlisted { int tickets = 1; };

int main() {
    return static_cast<int>(allot::encode(allot::command::Configure<std::variant<Unlisted>>{}).size());
}
