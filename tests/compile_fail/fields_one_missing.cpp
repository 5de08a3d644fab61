// error: only 2 names|only 2 names were provided
#include <allot/core/fields.hpp>

struct Parameters { int tickets = 1; int rounds = 2; int seats = 3; };
ALLOT_FIELDS(Parameters, tickets, seats)

int main() {
    auto parameters = Parameters{};
    allot::each_field(parameters, [](std::string_view, int&) {});
}
