// labels: jobs
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "job/support/fixture.hpp"
#include "support/catch.hpp"

// Who answers a question about jobs, or about a job's MacroJobs: usually one member, and every answer comes in time.

namespace job_test::answers {
namespace message = allot::job_message;

namespace {

constexpr auto members = 12U;
constexpr auto hop = 20ms;
const auto wait = allot::JobParameters{}.answer_wait;

auto job_number(std::uint32_t number) -> allot::JobPlan {
    auto spec = spec_of({2, 1, 0, 1, 0});
    spec.job = allot::JobId{number};
    return *allot::JobPlan::slice(spec);
}
auto ended(const allot::JobPlan& plan, std::uint32_t macro, std::uint64_t hash = 1) -> message::MacroNews {
    auto record =
        allot::MacroRecord{plan.job(), macro, 1, node(90).node, allot::JobOutcome::complete, {}, {}, 0, {}, {}, {}, {}};
    record.accepted = {{hash_of(hash), node(90).node, node(90).wallet}};
    record.digest = digest_of(record);
    return {plan.job(), macro, node(90).node, 0, 0, {record}, {}};
}

/// Members that know jobs whose first MacroJob has ended, and whose second one is in work elsewhere. They have nothing
/// to do, and ask each other.
class Idlers {
public:
    explicit Idlers(std::uint32_t jobs) {
        for (std::uint32_t i = 0; i < members; ++i) {
            nodes_.emplace_back(node(i), allot::JobParameters{}, allot::Intent{}, at(0s));
            (void)nodes_[i].start(at(0s));
            for (std::uint32_t j = 0; j < jobs; ++j) {
                const auto plan = job_number(j);
                const auto begins = at(allot::Duration{400 * i + 30 * j});  // not all at once
                follow(i, received(nodes_[i], message::JobPosted{plan, {}}, begins), begins);
                (void)received(nodes_[i], message::MacroNews{plan.job(), 1, node(91).node, 1, 0, {}, {}}, begins);
                (void)received(nodes_[i], ended(plan, 0), begins);
            }
        }
    }
    /// Goes on to a time.
    void run(TimePoint until) {
        while (true) {
            auto next = until;
            auto wakes = std::optional<std::uint32_t>{};
            for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
                if (nodes_[i].next_deadline() < next) { next = nodes_[i].next_deadline(), wakes = i; }
            }
            if (!under_way_.empty() && under_way_.begin()->first <= next && under_way_.begin()->first < until) {
                const auto [time, letter] = *under_way_.begin();
                under_way_.erase(under_way_.begin());
                for (std::uint32_t to = 0; to < nodes_.size(); ++to) {
                    if (to != letter.first) { follow(to, received(nodes_[to], letter.second, time), time); }
                }
            } else if (wakes) {
                follow(*wakes, nodes_[*wakes].tick(next), next);
            } else {
                return;
            }
        }
    }
    /// A newcomer, which takes no other part, says something to all of them.
    void tell(const allot::JobMessage& said, TimePoint now) { under_way_.emplace(now + hop, std::pair{members, said}); }
    std::vector<TimePoint> posts;
    std::vector<std::pair<TimePoint, allot::JobId>> questions;
    std::vector<std::pair<TimePoint, message::MacroNews>> news;

private:
    void follow(std::uint32_t i, const JobEffects& effects, TimePoint now) {
        for (const auto& send : effects.sends) {
            if (std::holds_alternative<message::JobPosted>(send.message)) { posts.push_back(now); }
            if (const auto* told = std::get_if<message::MacroNews>(&send.message)) { news.emplace_back(now, *told); }
            if (const auto* query = std::get_if<message::MacrosQuery>(&send.message)) {
                questions.emplace_back(now, query->job);
            }
            under_way_.emplace(now + hop, std::pair{i, send.message});
        }
    }

    std::vector<allot::JobProcessor> nodes_;
    std::multimap<TimePoint, std::pair<std::uint32_t, allot::JobMessage>> under_way_;
};

}  // namespace

TEST_CASE(
    "twelve idle members that ask about twelve jobs do not all answer each other, and each has its answer in time") {
    auto net = Idlers{12};
    net.run(at(5s));
    net.questions.clear();
    net.news.clear();
    net.run(at(10s));
    INFO(net.news.size() << " answers in 5 s");
    CHECK(net.questions.size() == 144);
    CHECK(net.news.size() < 2 * net.questions.size());  // eleven times as many if each member answers
    for (const auto& [asked, job] : net.questions) {
        if (asked > at(9s)) { continue; }  // its answer may be after the end
        const auto answers = [&, at = asked, about = job](const auto& told) {
            return told.second.job == about && told.second.macro == 0 && !told.second.records.empty() &&
                   told.first > at && told.first <= at + hop + wait / 4;
        };
        CHECK(std::any_of(net.news.begin(), net.news.end(), answers));
    }
}

TEST_CASE("of twelve members that know a job, few tell it to a newcomer, and the newcomer hears of it in time") {
    auto told = std::size_t{0};
    for (std::uint32_t asker = 100; asker < 120; ++asker) {
        auto net = Idlers{0};
        net.tell(message::JobPosted{job_number(1), {}}, at(6s));
        net.tell(message::JobsQuery{node(asker).node}, at(6s) + 1ms);  // before any MacroJob is in work
        net.run(at(6s) + wait / 2);
        REQUIRE_FALSE(net.posts.empty());
        CHECK(net.posts.front() <= at(6s) + 1ms + hop + wait / 4);
        told += net.posts.size();
    }
    INFO(told << " answers to 20 questions");
    CHECK(told < 60);  // 240 if each member answers
}

namespace {

/// A member that knows a job whose first MacroJob has ended, and whose second one is in work elsewhere.
struct Member {
    allot::JobPlan plan = job_number(1);
    allot::JobProcessor processor{node(1), {}, allot::Intent{}, at(0s)};

    Member() {
        (void)processor.start(at(0s));
        hears(message::JobPosted{plan, {}}, at(0s));
        hears(message::MacroNews{plan.job(), 1, node(91).node, 1, 0, {}, {}}, at(0s));
        hears(ended(plan, 0), at(0s));
    }
    /// Gives the number of news that it tells because of a message.
    auto hears(const allot::JobMessage& said, TimePoint now) -> std::size_t {
        const auto effects = received(processor, said, now);
        CHECK(effects.accepted());
        return count_sent<message::MacroNews>(effects);
    }
    auto asked_by(std::uint32_t asker, TimePoint now) -> std::size_t {
        return hears(message::MacrosQuery{plan.job(), node(asker).node}, now);
    }
    /// Gives the number of news that it tells up to a time.
    auto tells_until(TimePoint until) -> std::size_t {
        auto count = std::size_t{0};
        for (auto now = processor.next_deadline(); now < until; now = processor.next_deadline()) {
            count += count_sent<message::MacroNews>(processor.tick(now));
        }
        return count + count_sent<message::MacroNews>(processor.tick(until));
    }
    /// A member for which it does not answer at once.
    auto slow_asker() -> std::uint32_t {
        for (auto asker = 2U;; ++asker) {
            auto copy = *this;
            if (copy.asked_by(asker, at(1s)) + copy.tells_until(at(1s) + 40ms) == 0) { return asker; }
        }
    }
};

}  // namespace

TEST_CASE("an answer is left out once another member has said as much since the question") {
    auto m = Member{};
    const auto asker = m.slow_asker();
    auto alone = m;
    CHECK(alone.asked_by(asker, at(1s)) == 0);
    CHECK(alone.tells_until(at(1s) + wait / 4) == 1);
    CHECK(m.asked_by(asker, at(1s)) == 0);
    CHECK(m.hears(ended(m.plan, 0), at(1s) + 10ms) == 0);
    CHECK(m.tells_until(at(2s)) == 0);
}

TEST_CASE("what was said before a question, or says less, or not to all who ask, is no answer to it") {
    const auto m = Member{};
    const auto asker = Member{}.slow_asker();
    SECTION("before the question") {
        auto before = m;
        CHECK(before.hears(ended(before.plan, 0), at(1s)) == 0);
        CHECK(before.asked_by(asker, at(1s)) == 0);
        CHECK(before.tells_until(at(2s)) == 1);
    }
    SECTION("before a second question") {
        auto between = m;
        CHECK(between.asked_by(asker, at(1s)) == 0);
        CHECK(between.hears(ended(between.plan, 0), at(1s) + 10ms) == 0);
        CHECK(between.asked_by(99, at(1s) + 20ms) == 0);
        CHECK(between.tells_until(at(1s) + wait / 4) == 1);
    }
    SECTION("less: a record of many, however often it is said") {
        auto less = m;
        (void)less.hears(ended(less.plan, 0, 2), at(0s));  // another record of the same MacroJob
        CHECK(less.asked_by(asker, at(1s)) == 0);
        auto twice = ended(less.plan, 0, 2);
        twice.records.push_back(twice.records[0]);
        CHECK(less.hears(twice, at(1s) + 10ms) == 0);
        CHECK(less.tells_until(at(2s)) == 1);
    }
    SECTION("less: an epoch, but no record") {
        auto less = m;
        CHECK(less.asked_by(asker, at(1s)) == 0);
        CHECK(less.hears(message::MacroNews{less.plan.job(), 0, node(9).node, 1'000'000, 0, {}, {}}, at(1s) + 10ms) ==
              0);
        CHECK(less.tells_until(at(2s)) == 1);
    }
    SECTION("less: the records, but not the rejections") {
        auto less = m;
        auto rejects = ended(less.plan, 0);
        rejects.records.clear();
        rejects.rejected.push_back(
            {hash_of(7), {0, 0}, node(90).node, node(90).wallet, allot::RejectReason::tie_break});
        CHECK(less.hears(rejects, at(0s)) == 0);
        CHECK(less.asked_by(asker, at(1s)) == 0);
        CHECK(less.hears(ended(less.plan, 0), at(1s) + 10ms) == 0);
        CHECK(less.tells_until(at(2s)) == 1);
    }
}

TEST_CASE("an owner tells of its queue at once, whatever epoch another one makes up") {
    const auto plan = job_number(1);
    auto owner = allot::JobProcessor{node(1), {}, allot::Intent{}, at(0s)};
    (void)owner.start(at(0s));
    (void)owner.post(plan, at(0s));
    auto now = at(0s);
    while (!owner.work()) { (void)owner.tick(now = owner.next_deadline()); }
    const auto query = message::MacrosQuery{plan.job(), node(2).node};
    CHECK(sent<message::MacroNews>(received(owner, query, now + 1s))->epoch == 1);
    CHECK(count_sent<message::MacroNews>(received(owner, query, now + 1'010ms)) == 0);  // it rests
    (void)received(owner, message::MacroNews{plan.job(), 0, node(9).node, 1'000'000, 0, {}, {}}, now + 1'020ms);
    auto told = std::vector<std::uint64_t>{};
    for (auto time = owner.next_deadline(); time <= now + 1s + wait / 2; time = owner.next_deadline()) {
        const auto effects = owner.tick(time);
        if (const auto* news = sent<message::MacroNews>(effects)) { told.push_back(news->epoch); }
    }
    CHECK(told == std::vector<std::uint64_t>{1});
}

}  // namespace job_test::answers
