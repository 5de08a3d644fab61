// error: allot: ALLOT_FIELDS names the members of the type
#include <allot/core/fields.hpp>

struct Parameters { int tickets = 1; };
ALLOT_FIELDS(Parameters)

int main() {
    auto parameters = Parameters{};
    allot::each_field(parameters, [](std::string_view, int&) {});
}
