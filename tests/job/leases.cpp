#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <variant>
#include <vector>

#include <allot/allot.hpp>

#include "job/support/fixture.hpp"
#include "support/catch.hpp"
#include "support/network.hpp"
#include "support/seed.hpp"

// The dispatcher keeps its leases in pages that can be undone, and their deadlines in one heap with all else that falls
// due: a tenth of the instructions of a `LeaseTable`, which can be searched for what is open. They are held to the same
// rules here.

namespace job_test::leases {

TEST_CASE("the dispatcher's leases keep the rules of the table that jobs lease from, whatever is done with them") {
    auto random = std::mt19937_64{support::seed()};
    auto d = allot::Dispatcher<>{};
    for (std::uint64_t n = 1; n <= 4; ++n) { support::ok(d.join(support::plain_node(n), {TimePoint{}, std::nullopt})); }
    auto table = allot::LeaseTable<allot::TaskId, allot::NodeId>{};
    auto lengths = std::map<allot::TaskId, allot::Duration>{};
    auto given = std::vector<allot::Lease>{};
    auto accepted = 0;
    auto refused = 0;
    auto time = TimePoint{};
    for (std::uint64_t step = 1; step <= 5'000; ++step) {
        time += allot::Duration{1 + random() % 30'000};
        const auto moment = allot::Moment{time, allot::Entropy{step}};
        const auto lease = given.empty() ? allot::Lease{allot::TaskId{1}, allot::NodeId{1}}
                                         : given[given.size() - 1 - random() % std::min<std::size_t>(given.size(), 8)];
        const auto* item = table.find(lease.task);
        const auto current = item != nullptr && item->is_held(time) && item->hold->token == lease.token;
        auto events = allot::Events{};
        const auto answer = [&](allot::Events&& said) {
            events = std::move(said);
            REQUIRE(events.accepted() == current);
            ++(current ? accepted : refused);
        };
        switch (random() % 5) {
            case 0:
                answer(d.complete(lease, moment));
                if (current) { CHECK(table.close(lease.task) == allot::LeaseFault::none); }
                break;
            case 1: {
                answer(d.renew(lease, moment));
                const auto fault = table.renew(lease.task, lease.token, time, lengths[lease.task]);
                REQUIRE((fault == allot::LeaseFault::none) == current);
                const auto* renewed = events.get<allot::event::LeaseRenewed>();
                if (current) { REQUIRE(renewed->lease.deadline == table.find(lease.task)->hold->expires); }
                break;
            }
            case 2:
                answer(d.decline(lease, moment));
                if (current) { CHECK(table.release(lease.task, lease.token, time) == allot::LeaseFault::none); }
                break;
            default:
                table.add({allot::TaskId{step}, 0, {}, false, {}});
                events = d.submit(support::plain_task(allot::TaskId{step}), moment);
        }
        for (const auto& event : events) {
            const auto* started = std::get_if<allot::event::TaskStarted>(&event);
            if (started == nullptr) { continue; }
            const auto& l = started->lease;
            lengths[l.task] = l.deadline - time;
            REQUIRE(table.acquire(l.task, l.node, l.token, time, lengths[l.task]) == allot::LeaseFault::none);
            given.push_back(l);
        }
    }
    CHECK(given.size() > 150);
    CHECK(accepted > 100);
    CHECK(refused > 300);
}

}  // namespace job_test::leases
