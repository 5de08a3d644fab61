#include <allot/compiled/guard.hpp>

namespace allot { inline namespace v0 { namespace compiled {

const char ALLOT_DETAIL_COMPILED = 0;

}}}  // namespace allot::v0::compiled
