// labels: vectors
// The first contracts' groups of cards, and the three nodes they find for one that became free, beside the gangs of
// CrynuxTrio.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <allot/explain/probabilities.hpp>
#include <allot/preset/crynux_trio.hpp>

#include "vectors/cases.hpp"

namespace {

using namespace support;
using namespace std::chrono_literals;
using allot::preset::CrynuxTrio;
using Trio = allot::Dispatcher<CrynuxTrio>;

const auto in_the_dark = allot::Moment{allot::TimePoint{1s}, {}};
const auto light = allot::Moment{allot::TimePoint{1s}, allot::Entropy{7}};

struct Node {
    std::string id;
    std::string gpu;
    std::uint32_t vram;
    std::uint32_t score;

    [[nodiscard]] auto card() const -> std::string { return gpu + "|" + std::to_string(vram); }
};
auto nodes_of(const Json& row) -> std::vector<Node> {
    auto nodes = std::vector<Node>{};
    for (const auto& node : row.at("nodes")) {
        // An address is 20 bytes, too long for text with its prefix.
        nodes.push_back({node.at("addr").get<std::string>().substr(22), node.at("gpu").get<std::string>(),
                         node.at("vram").get<std::uint32_t>(), node.at("score").get<std::uint32_t>()});
    }
    return nodes;
}
void join(Trio& d, const Node& node, const allot::Moment& moment, allot::Events* events = nullptr) {
    auto joined = d.join({.id = node.id, .gpu = node.gpu, .vram = {node.vram}, .stake = 400}, moment);
    REQUIRE(joined.accepted());
    if (events != nullptr) { *events = joined; }
}
auto task(std::uint32_t vram_min) -> allot::TaskSpec {
    return {.id = 1, .vram_min = {std::max(vram_min, 1U)}, .fee = 10, .duration_estimate = 20s};
}

/// The nodes on which a waiting task starts when the last of these joins; none when it waits on.
auto started(const std::vector<Node>& nodes, const Node& root, const allot::TaskSpec& waiting) -> std::vector<Node> {
    auto d = Trio{CrynuxTrio{}};
    REQUIRE(d.submit(waiting, in_the_dark).accepted());
    for (const auto& node : nodes) {
        if (node.id != root.id) { join(d, node, in_the_dark); }
    }
    auto events = allot::Events{};
    join(d, root, light, &events);
    auto found = std::vector<Node>{};
    events.each([&](const allot::event::TaskStarted& e) {
        found.push_back(*std::find_if(nodes.begin(), nodes.end(),
                                      [&](const Node& node) { return allot::NodeId{node.id} == e.lease.node; }));
    });
    return found;
}
auto vram_of(const std::vector<Node>& nodes) -> std::uint32_t {
    return std::min_element(nodes.begin(), nodes.end(), [](auto& a, auto& b) { return a.vram < b.vram; })->vram;
}
auto of_one_card(const std::vector<Node>& nodes) -> bool {
    return std::all_of(nodes.begin(), nodes.end(),
                       [&](const Node& node) { return node.card() == nodes.front().card(); });
}

}  // namespace

TEST_CASE("cards of enough nodes weigh what the first contracts say") {
    for (const auto& row : cases("contracts_v1_groups")) {
        CAPTURE(row.at("case").dump());
        auto d = Trio{CrynuxTrio{}};
        const auto nodes = nodes_of(row);
        auto card = std::map<std::string, std::string>{};
        for (const auto& node : nodes) {
            join(d, node, in_the_dark);
            REQUIRE(d.score(node.id, node.score, in_the_dark).accepted());
            card[allot::NodeId{node.id}.text()] = node.card();
        }
        for (const auto& query : row.at("groupQueries")) {
            CAPTURE(query.dump());
            auto asked = task(query.at("vramLimit").get<std::uint32_t>());
            asked.gang_size = query.at("countLimit").get<std::uint32_t>();
            asked.same_card = asked.gang_size > 1;
            auto ours = std::map<std::string, double>{};
            auto total = 0.0;
            const auto told = allot::probabilities(d, asked).value();
            for (const auto& share : told.nodes) {
                ours[card.at(share.node.text())] += as_double(share.weight);
                total += as_double(share.weight);
            }
            if (query.contains("error")) {
                CHECK(query.at("error").get<std::string>() == "No available node");
                CHECK(ours.empty());
                continue;
            }
            const auto& groups = query.at("groups");
            CHECK(ours.size() == groups.size());
            auto whole = 0.0;
            for (const auto& group : groups) { whole += group.at("weight").get<std::uint32_t>(); }
            for (const auto& group : groups) {
                CAPTURE(group.dump());
                CHECK(agree(ours[group.at("group").get<std::string>()] / total,
                            group.at("weight").get<std::uint32_t>() / whole));
            }
        }
    }
}

TEST_CASE("a free node finds the three that the first contracts find, or three as good") {
    auto differences = Differences{"contracts_v1_groups"};
    for (const auto& row : cases("contracts_v1_groups")) {
        const auto nodes = nodes_of(row);
        for (const auto& query : row.at("selectNodesWithRoot")) {
            CAPTURE(row.at("case").dump(), query.dump());
            const auto find = [&](const Json& address) {
                const auto id = address.get<std::string>().substr(22);
                return *std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.id == id; });
            };
            const auto root = find(query.at("root"));
            if (query.contains("error")) {
                CHECK(started(nodes, root, CrynuxTrio::sd(task(1))).empty());
                CHECK(started(nodes, root, CrynuxTrio::gpt(task(1))).empty());
                continue;
            }
            auto selected = std::vector<Node>{};
            for (const auto& address : query.at("selected")) { selected.push_back(find(address)); }
            REQUIRE(selected.front().id == root.id);
            // A GPT task starts where the contract finds three of a card, and on that card.
            const auto gpt = started(nodes, root, CrynuxTrio::gpt(task(1)));
            CHECK(gpt.empty() == !of_one_card(selected));
            CHECK((gpt.empty() || (gpt.size() == 3 && of_one_card(gpt) && gpt.front().id == root.id)));
            // An image task starts up to the VRAM of the three that the contract finds, and not beyond.
            const auto vram = vram_of(selected);
            const auto sd = started(nodes, root, CrynuxTrio::sd(task(vram)));
            REQUIRE(sd.size() == 3);
            CHECK(vram_of(sd) == vram);
            CHECK(started(nodes, root, CrynuxTrio::sd(task(vram + 1))).empty());
            auto theirs = std::multiset<std::string>{};
            auto ours = std::multiset<std::string>{};
            for (std::size_t i = 0; i < 3; ++i) {
                theirs.insert(selected[i].id);
                ours.insert(sd[i].id);
            }
            if (ours == theirs) { continue; }
            // Rule 26: image tasks take the largest VRAM though a card has three, and lots decide among equals, not the
            // set's order.
            differences.note(of_one_card(selected)
                                 ? "the contract keeps to the card, we take the largest VRAM (rule 26)"
                                 : "another of equal VRAM, by lot and not by the set's order (rule 26)");
            if (!of_one_card(selected)) {
                auto sizes = std::multiset<std::uint32_t>{};
                auto their_sizes = std::multiset<std::uint32_t>{};
                for (std::size_t i = 0; i < 3; ++i) {
                    sizes.insert(sd[i].vram);
                    their_sizes.insert(selected[i].vram);
                }
                CHECK(sizes == their_sizes);
            }
        }
    }
}

TEST_CASE("sets of several nodes come as often as the first contracts say") {
    for (const auto& row : cases("contracts_v1_selection_frequency")) {
        const auto k = row.at("k").get<std::uint32_t>();
        if (k == 1) {
            continue;  // contracts.cpp has the draws of one node
        }
        CAPTURE(row.dump());
        auto d = Trio{CrynuxTrio{}};
        const auto nodes = nodes_of(row);
        for (const auto& node : nodes) {
            join(d, node, in_the_dark);
            REQUIRE(d.score(node.id, node.score, in_the_dark).accepted());
        }
        auto asked = task(row.at("vramLimit").get<std::uint32_t>());
        asked.gang_size = k;
        asked.same_card = row.at("useSameGPU").get<bool>();
        auto able = nodes;
        std::erase_if(able, [&](const Node& node) { return node.vram < asked.vram_min.count; });
        using Set = std::set<allot::NodeId>;
        auto observed = std::map<Set, double>{};
        auto draws = 0.0;
        for (const auto& [addresses, count] : row.at("observedSets").items()) {
            auto set = Set{};
            for (std::size_t at = 0; at < addresses.size(); at += 43) {
                set.insert(allot::NodeId{addresses.substr(at + 22, 20)});
            }
            REQUIRE(set.size() == k);
            observed[set] = count.get<double>();
            draws += observed[set];
        }
        CHECK(draws == row.at("draws").get<double>());
        auto ours = std::map<Set, double>{};
        for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
            auto session = d.session();
            auto set = Set{};
            d.submit(asked, {in_the_dark.time, seed}).each([&](const allot::event::TaskStarted& e) {
                set.insert(e.lease.node);
            });
            ++ours[set];
            session.rollback();
        }
        // Each set by the scores: first a card by what its nodes score together, then one after the other without
        // replacement.
        auto expected = std::map<Set, double>{};
        auto whole = 0.0;
        for (const auto& node : able) {
            const auto peers =
                std::count_if(able.begin(), able.end(), [&](const Node& n) { return n.card() == node.card(); });
            whole += !asked.same_card || peers >= k ? node.score : 0.0;
        }
        const auto descend = [&](auto&& self, const Set& set, const std::string& card, double p, double left) -> void {
            if (set.size() == k) {
                expected[set] += p;
                return;
            }
            for (const auto& node : able) {
                const auto peers =
                    std::count_if(able.begin(), able.end(), [&](const Node& n) { return n.card() == node.card(); });
                const auto stands = !asked.same_card || (set.empty() ? peers >= k : node.card() == card);
                if (!stands || set.contains(allot::NodeId{node.id})) { continue; }
                auto next = set;
                next.insert(allot::NodeId{node.id});
                auto rest = left - node.score;
                if (set.empty() && asked.same_card) {
                    rest = -double(node.score);
                    for (const auto& peer : able) { rest += peer.card() == node.card() ? peer.score : 0.0; }
                }
                self(self, next, node.card(), p * node.score / left, rest);
            }
        };
        descend(descend, {}, "", 1.0, whole);
        CHECK(observed.size() == expected.size());  // before the loop below makes entries
        CHECK(ours.size() == expected.size());
        auto parts = std::vector<double>{};
        auto theirs = std::vector<double>{};
        auto mine = std::vector<double>{};
        for (const auto& [set, part] : expected) {
            parts.push_back(part);
            theirs.push_back(observed[set]);
            mine.push_back(ours[set]);
        }
        CHECK(may_come_from(parts, theirs));
        CHECK(may_come_from(parts, mine));
    }
}
