#include <string>
#include <string_view>
#include <type_traits>

#include <allot/store/record_fields.hpp>

#include "support/catch.hpp"

namespace record_fields_test {

using allot::Node;

/// A node as it is read when one field of it says something else.
template <class Value>
auto read_with(Node node, std::string_view name, const Value& value) -> Node {
    allot_fields(std::type_identity<Node>{}, node, [&]<class Field>(std::string_view field, Field& into) {
        if constexpr (std::is_same_v<Field, Value>) {
            if (field == name) { into = value; }
        }
    });
    return node;
}

auto sample() -> Node {
    auto node = Node{};
    node.id = 7;
    node.staked(400);
    return node;
}

TEST_CASE("a node is read as it was written, and has no rest that it does not need") {
    const auto node = sample();
    CHECK(read_with(node, "", 0) == node);
    CHECK(read_with(node, "", 0).rest.find() == nullptr);
    const auto other = read_with(node, "operator_id", allot::OperatorId{"farm"});
    CHECK(other.operator_id() == allot::OperatorId{"farm"});
    CHECK(other.id == allot::NodeId{7});
    CHECK(read_with(other, "operator_id", allot::OperatorId{7}).rest.find() == nullptr);
    CHECK(read_with(node, "labels", allot::List<std::string>{"fast"}).labels().front() == "fast");
}

TEST_CASE("a node without operator, or with a root that is not its stake's, is read as one that may not be") {
    const auto node = sample();
    CHECK(read_with(node, "operator_id", allot::OperatorId::null()).id.is_null());
    CHECK(read_with(node, "stake_root", allot::StakeRoot::from(401)).id.is_null());
    CHECK(read_with(node, "stake_root", allot::StakeRoot{}).id.is_null());
    CHECK(read_with(node, "stake", allot::Amount{401}).id.is_null());
}

}  // namespace record_fields_test
