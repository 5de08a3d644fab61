#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/network.hpp"

using namespace support;

// Bad input: each kind is a typed error, and a refused command changes nothing but time.

namespace {

using Dispatcher = allot::Dispatcher<allot::Rules, allot::FixedTerms>;
using Command = Dispatcher::Command;
using Report = command::Report;

struct Refusal {
    Error error;
    std::string what;
    std::function<Command(const Dispatcher&)> command;
    Moment moment = at(10s);
};

const auto limits = allot::RulesParameters{.due_max = 2,
                                           .nodes_max = 5,
                                           .tasks_max = 7,
                                           .classes_max = 2,
                                           .requirements_max = 3,
                                           .models_max = 4,
                                           .models_per_task_max = 3,
                                           .models_per_node_max = 3,
                                           .choices_max = 2,
                                           .labels_max = 1,
                                           .name_bytes_max = 20,
                                           .group_members_max = 1};

/// Nodes: 1 is idle, 2 busy, 3 paused, 4 about to leave, 5 gone. Tasks: 1 runs on 2, 2 on 4 (committed), 3 waits, 4
/// ended.
auto network() -> Dispatcher {
    auto d = Dispatcher{allot::Rules{limits}, allot::FixedTerms{}};
    ok(d.join(with(plain_node(2), [](auto& n) { n.models = {"a", "b"}; }), at(0s)));
    ok(d.submit(with(plain_task(1),
                     [](auto& t) {
                         t.models = {"c"};
                         t.group = 1;
                     }),
                at(0s)));
    ok(d.join(plain_node(4), at(0s)));
    const auto lease = leased(d.submit(plain_task(2), at(0s)));
    ok(d.commit(lease, at(0s)));
    ok(d.submit(with(plain_task(3), [](auto& t) { t.vram_min = 80_GiB; }), at(0s)));
    ok(d.submit(with(plain_task(4), [](auto& t) { t.vram_min = 48_GiB; }), at(0s)));
    ok(d.cancel(4, at(0s)));
    ok(d.join(plain_node(1), at(0s)));
    ok(d.join(with(plain_node(3), [](auto& n) { n.gpu = "H100"; }), at(0s)));
    ok(d.pause(3, at(0s)));
    ok(d.leave(4, at(0s)));
    ok(d.join(plain_node(5), at(0s)));
    ok(d.leave(5, at(0s)));
    return d;
}

/// The lease that a task runs under.
auto lease_of(const Dispatcher& d, allot::TaskId id) -> Lease {
    const auto task = *d.state().tasks().find(id);
    const auto& record = d.state().leases()[d.state().tasks()[task].lease];
    return {id, d.state().nodes()[record.node].node.id, record.token, 0, 1, record.deadline};
}

template <class Change>
auto join(Change change) {
    return [change](const Dispatcher&) { return Command{command::Join{with(plain_node(5), change)}}; };
}
template <class Change>
auto submit(Change change) {
    return [change](const Dispatcher&) { return Command{command::Submit{with(plain_task(9), change)}}; };
}
auto always(Command command) {
    return [command](const Dispatcher&) { return command; };
}
auto update(allot::NodeUpdate change) { return always(command::Update{std::move(change)}); }
auto report(allot::NodeId node, Report kind, std::vector<std::string> models) {
    return always(command::ReportModel{node, kind, std::move(models)});
}
template <class Parameters>
auto configure(Parameters parameters) {
    return always(command::Configure<Dispatcher::Configuration>{parameters, 2});
}

const auto too_much = allot::Amount{allot::u128{1} << 96};
const auto long_name = std::string(21, 'x');
const auto null_bytes = std::string{};

auto refusals() -> std::vector<Refusal> {
    using E = Error;
    auto list = std::vector<Refusal>{
        {E::time_went_back, "earlier than the last command", always(command::Advance{}), at(-1s)},
        {E::time_too_late, "beyond 2^48 ms", always(command::Advance{}), {allot::time_point_max + 1ms, 1}},
        {E::advance_first, "three things are due, two are settled", always(command::Match{}), at(7h)},
        {E::entropy_missing, "match without entropy", always(command::Match{}), dark(10s)},

        {E::id_invalid, "node, null", join([](auto& n) { n.id = ""; })},
        {E::id_invalid, "node, text too long", join([](auto& n) { n.id = std::string(33, 'x'); })},
        {E::id_invalid, "node, negative", join([](auto& n) { n.id = -1; })},
        {E::id_invalid, "operator", join([](auto& n) { n.operator_id = null_bytes; })},
        {E::id_invalid, "operator, update", update({.id = 1, .operator_id = allot::OperatorId{""}})},
        {E::id_invalid, "task", submit([](auto& t) { t.id = ""; })},
        {E::id_invalid, "owner", submit([](auto& t) { t.owner = null_bytes; })},
        {E::id_invalid, "group", submit([](auto& t) { t.group = null_bytes; })},
        {E::node_duplicate, "join", join([](auto& n) { n.id = 1; })},
        {E::task_duplicate, "a task runs", submit([](auto& t) { t.id = 1; })},
        {E::task_duplicate, "a task has ended", submit([](auto& t) { t.id = 4; })},
        {E::task_duplicate, "a task runs, and the rest is wrong, too", submit([](auto& t) {
             t.id = 1;
             t.duration_estimate = {};
             t.gpus.clear();
             t.vram_min = {};
         })},
        {E::task_unknown, "cancel", always(command::Cancel{99})},
        {E::task_unknown, "cancel, null", always(command::Cancel{""})},
        {E::task_ended, "cancel", always(command::Cancel{4})},
        {E::task_not_leased, "complete a waiting task", always(command::Complete{Lease{3, 1, 1}})},
        {E::lease_stale, "complete",
         [](const auto& d) {
             auto lease = lease_of(d, 1);
             --lease.token;
             return Command{command::Complete{lease}};
         }},
        {E::lease_not_committed, "disclose", [](const auto& d) { return Command{command::Disclose{lease_of(d, 1)}}; }},
        {E::lease_already_committed, "commit", [](const auto& d) { return Command{command::Commit{lease_of(d, 2)}}; }},

        {E::vram_zero, "join", join([](auto& n) { n.vram = {}; })},
        {E::vram_zero, "update", update({.id = 1, .vram = 0_GiB})},
        {E::vram_zero, "task", submit([](auto& t) { t.vram_min = {}; })},
        {E::vram_zero, "GPU by name without a minimum", submit([](auto& t) {
             t.vram_min = {};
             t.gpus = {{"A", {}}};
         })},
        {E::gpu_empty, "join", join([](auto& n) { n.gpu = ""; })},
        {E::gpu_empty, "update", update({.id = 1, .gpu = ""})},
        {E::duration_invalid, "postpone by nothing", always(command::Postpone{})},
        {E::duration_invalid, "postpone back", always(command::Postpone{-1ms})},
        {E::duration_invalid, "postpone by 2^32 ms", always(command::Postpone{4'294'967'296ms})},
        {E::duration_invalid, "zero", submit([](auto& t) { t.duration_estimate = 0s; })},
        {E::duration_invalid, "negative", submit([](auto& t) { t.duration_estimate = -1ms; })},
        {E::duration_invalid, "2^32 ms", submit([](auto& t) { t.duration_estimate = 4'294'967'296ms; })},
        {E::amount_overflow, "stake", join([](auto& n) { n.stake = too_much; })},
        {E::amount_overflow, "stake, update", update({.id = 1, .stake = too_much})},
        {E::amount_overflow, "fee", submit([](auto& t) { t.fee = too_much; })},
        {E::name_empty, "model of a node", join([](auto& n) {
             n.models = {"a", ""};
         })},
        {E::name_empty, "label of a node", join([](auto& n) { n.labels = {""}; })},
        {E::name_empty, "label, update", update({.id = 1, .labels = std::vector<std::string>{""}})},
        {E::name_empty, "model of a task", submit([](auto& t) { t.models = {""}; })},
        {E::name_empty, "GPU of a task", submit([](auto& t) {
             t.gpus = {{"", 8_GiB}};
         })},
        {E::name_empty, "platform of a task", submit([](auto& t) { t.platforms = {""}; })},
        {E::name_empty, "platform that a task refuses", submit([](auto& t) { t.platforms_refused = {""}; })},
        {E::name_empty, "report", report(1, Report::add, {""})},
        {E::name_too_long, "GPU", join([](auto& n) { n.gpu = long_name; })},
        {E::name_too_long, "platform", join([](auto& n) { n.platform = long_name; })},
        {E::name_too_long, "model", join([](auto& n) { n.models = {long_name}; })},
        {E::name_too_long, "label of a task", submit([](auto& t) { t.labels = {long_name}; })},
        {E::name_too_long, "GPU of a task", submit([](auto& t) {
             t.gpus = {{long_name, 8_GiB}};
         })},
        {E::name_too_long, "report", report(1, Report::inventory, {long_name})},
        {E::too_many_names, "models of a node", join([](auto& n) {
             n.models = {"a", "b", "c", "d"};
         })},
        {E::too_many_names, "models of a node, one by one", report(2, Report::add, {"c", "d"})},
        {E::too_many_names, "labels of a node", join([](auto& n) {
             n.labels = {"a", "b"};
         })},
        {E::too_many_names, "models of a task", submit([](auto& t) {
             t.models = {"a", "b", "c", "d"};
         })},
        {E::too_many_names, "GPUs of a task", submit([](auto& t) {
             t.gpus = {{"A", 1_GiB}, {"B", 1_GiB}, {"C", 1_GiB}};
         })},
        {E::too_many_names, "platforms of a task", submit([](auto& t) {
             t.platforms = {"a", "b", "c"};
         })},
        {E::too_many_names, "platforms refused", submit([](auto& t) {
             t.platforms_refused = {"a", "b", "c"};
         })},
        {E::task_unrunnable, "all platforms it accepts are refused", submit([](auto& t) {
             t.platforms = {"a", "b"};
             t.platforms_refused = {"b", "a"};
         })},
        {E::too_many_names, "labels of a task", submit([](auto& t) {
             t.labels = {"a", "b"};
         })},
        {E::too_many_nodes, "a sixth, with less stake than the one that is gone", join([](auto& n) {
             n.id = 6;
             n.stake = 0;
         })},
        {E::too_many_classes, "join", join([](auto& n) { n.gpu = "B"; })},
        {E::too_many_models, "join", join([](auto& n) {
             n.models = {"c", "d", "e"};
         })},
        {E::too_many_models, "report", report(1, Report::add, {"c", "d", "e"})},
        {E::group_full, "a second member", submit([](auto& t) { t.group = 1; })},
        {E::gang_size_invalid, "nobody", submit([](auto& t) { t.gang_size = 0; })},
        {E::gang_size_invalid, "more than the rules allow", submit([](auto& t) { t.gang_size = 17; })},
        {E::gang_size_invalid, "one card for one node", submit([](auto& t) { t.same_card = true; })},
        {E::points_out_of_range, "score", always(command::Score{1, 11})},
        {E::points_out_of_range, "a score is not observed", always(command::Observe{1, allot::OutcomeKind::scored})},
        {E::parameter_invalid, "due_max", configure(allot::RulesParameters{.due_max = 0})},
        {E::parameter_invalid, "renewals_max", configure(allot::RulesParameters{.renewals_max = 0})},
        {E::parameter_invalid, "capacity", configure(allot::ValueQueueParameters{.capacity_min = 0})},
        {E::parameter_invalid, "alpha", configure(allot::ValueQueueParameters{.tasks_per_node = {1, 0}})},
        {E::parameter_invalid, "window", configure(allot::RollingQosParameters{.window = 51})},
        {E::parameter_invalid, "length", configure(allot::FixedTermsParameters{.length_min = 0s})},
        {E::parameter_invalid, "target", configure(allot::ThresholdPlacementParameters{.holders_target = 1})},
        {E::update_empty, "update", update({.id = 1})},
        {E::update_empty, "report", report(1, Report::add, {})},

        {E::already_paused, "paused", always(command::Pause{3})},
        {E::already_leaving, "pause", always(command::Pause{4})},
        {E::already_leaving, "resume", always(command::Resume{4})},
        {E::already_leaving, "leave", always(command::Leave{4})},
        {E::not_paused, "idle", always(command::Resume{1})},
        {E::not_paused, "busy", always(command::Resume{2})},
        {E::model_unknown, "remove", report(1, Report::remove, {"a"})},
        {E::model_unknown, "unload", report(1, Report::unload, {"a"})},
        {E::model_not_on_disk, "load", report(1, Report::load, {"a"})},
        {E::model_not_on_disk, "load what was only asked for", report(2, Report::load, {"c"})},
    };
    for (const auto gone : {5, 99}) {
        for (const auto& command :
             {Command{command::Update{{.id = gone, .stake = 1}}}, Command{command::Pause{gone}},
              Command{command::Resume{gone}}, Command{command::Leave{gone}}, Command{command::Slash{gone}},
              Command{command::ReportModel{gone, Report::add, {"a"}}}}) {
            list.push_back({E::node_unknown, "node " + std::to_string(gone), always(command)});
        }
    }
    list.push_back({E::node_unknown, "score", always(command::Score{99, 1})});
    list.push_back({E::node_unknown, "observe", always(command::Observe{99, allot::OutcomeKind::success})});
    return list;
}

/// The errors with which tests of dispatchers and of terms expect a refusal, as their text has it: those that need a
/// network of their own.
auto expected_by_tests() -> std::set<std::string> {
    auto found = std::set<std::string>{};
    const auto pattern = std::regex{"(only_time_passed|refusal|refused|error)\\(.*[^!]=?[=,] Error::([a-z_]+)"};
    for (const auto* room : {"dispatcher", "terms"}) {
        for (const auto& file : std::filesystem::directory_iterator{std::filesystem::path{ALLOT_TESTS_DIR} / room}) {
            if (file.path().extension() != ".cpp") { continue; }
            auto stream = std::ifstream{file.path()};
            for (auto line = std::string{}; std::getline(stream, line);) {
                auto match = std::smatch{};
                const auto is_comment = line.find_first_not_of(' ') == line.find("//");
                if (!is_comment && std::regex_search(line, match, pattern)) { found.insert(match[2]); }
            }
        }
    }
    return found;
}

/// Applies a command that must be refused; true when nothing but time has changed.
auto only_time_passed(Dispatcher& d, const Command& command, const Moment& moment, Error error) -> bool {
    auto waited = d;
    (void)waited.advance({moment.time, moment.entropy});
    const auto events = d.apply(command, moment);
    return refusal(events) == error && d == waited && d.digest() == waited.digest();
}

}  // namespace

TEST_CASE("what is wrong is refused with its own error, and changes nothing but time") {
    for (const auto& refused : refusals()) {
        auto d = network();
        auto command = refused.command(d);
        CAPTURE(refused.what, std::string{message(refused.error)});
        if (refused.error == Error::time_went_back || refused.error == Error::time_too_late) {
            const auto before = d;
            CHECK(refusal(d.apply(command, refused.moment)) == refused.error);
            CHECK(d == before);
            continue;
        }
        CHECK(only_time_passed(d, command, refused.moment, refused.error));
        const auto with_the_moment = refused.error == Error::entropy_missing || refused.error == Error::advance_first;
        CHECK(d.check(command) == (with_the_moment ? std::nullopt : std::optional{refused.error}));
    }
}

TEST_CASE("each error is produced by some test") {
    auto produced = expected_by_tests();
    for (const auto& refused : refusals()) { produced.emplace(enumerator_name(refused.error)); }
    for (auto number = 0; number < 1'000; ++number) {
        const auto error = static_cast<Error>(number);
        if (message(error) != "unknown error") {
            CAPTURE(number, std::string{message(error)});
            CHECK(produced.count(std::string{enumerator_name(error)}) == 1);
        }
    }
}

TEST_CASE("a disclosed lease is not disclosed again") {
    auto d = network();
    const auto lease = lease_of(d, 2);
    ok(d.disclose(lease, at(0s)));
    CHECK(only_time_passed(d, command::Disclose{lease}, at(1s), Error::lease_already_disclosed));
}

TEST_CASE("a lease at its cap is not renewed") {
    auto d = Dispatcher{allot::Rules{}, allot::FixedTerms{{.length_max = 60s, .renewed_max = 60s}}};
    join_plain(d, 1);
    const auto lease = leased(d.submit(plain_task(1), at(0s)));
    CHECK(only_time_passed(d, command::Renew{lease}, at(1s), Error::lease_renewal_capped));
}

TEST_CASE("tasks are bounded, those remembered included, and so are their requirements") {
    auto d = network();
    ok(d.submit(plain_task(10), dark(0s)));
    const auto other = Command{command::Submit{with(plain_task(12), [](auto& t) { t.vram_min = 9_GiB; })}};
    CHECK_FALSE(d.check(other));
    ok(d.submit(with(plain_task(11), [](auto& t) { t.vram_min = 10_GiB; }), dark(0s)));
    CHECK(only_time_passed(d, other, at(1s), Error::too_many_requirements));
    ok(d.submit(plain_task(12), dark(1s)));
    CHECK(only_time_passed(d, command::Submit{plain_task(13)}, at(1s), Error::too_many_tasks));
}

TEST_CASE("a task that fits no node there is refused where the rules say so, however its hardware is written") {
    auto rules = limits;
    rules.refuse_unrunnable = true;
    auto d = Dispatcher{allot::Rules{rules}, allot::FixedTerms{}};
    CHECK(only_time_passed(d, command::Submit{plain_task(1)}, dark(1s), Error::task_unrunnable));
    ok(d.join(with(plain_node(1), [](auto& n) { n.platform = "Linux"; }), dark(1s)));
    ok(d.pause(1, dark(1s)));
    const auto cards = with(plain_task(1), [](auto& t) {
        t.gpus = {{"RTX 4090", 24_GiB}, {"H100", 80_GiB}};
    });  // not sorted
    ok(d.submit(cards, dark(1s)));
    for (const auto& task : {with(plain_task(2), [](auto& t) { t.vram_min = 80_GiB; }),
                             with(plain_task(2),
                                  [](auto& t) {
                                      t.gpus = {{"H100", 80_GiB}, {"A100", 80_GiB}};
                                  }),
                             with(plain_task(2), [](auto& t) { t.platforms = {"Darwin"}; })}) {
        CHECK(only_time_passed(d, command::Submit{task}, dark(2s), Error::task_unrunnable));
    }
    ok(d.leave(1, dark(2s)));
    CHECK(
        only_time_passed(d, command::Submit{with(cards, [](auto& t) { t.id = 2; })}, dark(3s), Error::task_unrunnable));
}

TEST_CASE("an owner at his quota is refused") {
    auto rules = limits;
    rules.tasks_per_owner_max = 2;
    auto d = Dispatcher{allot::Rules{rules}, allot::FixedTerms{}};
    join_plain(d, 1);
    const auto lease = leased(d.submit(plain_task(1), at(0s)));  // a running task counts
    ok(d.submit(plain_task(2), at(0s)));
    CHECK(only_time_passed(d, command::Submit{plain_task(3)}, at(1s), Error::owner_quota_reached));
    ok(d.complete(lease, dark(1s)));
    ok(d.submit(plain_task(3), dark(1s)));
}

TEST_CASE("the largest input that is admitted is admitted") {
    auto d = network();
    const auto most = allot::Amount{(allot::u128{1} << 96) - 1};
    CHECK(d.join(with(plain_node(5),
                      [&](auto& n) {
                          n.stake = most;
                          n.models = {"a", "b", "d"};
                          n.labels = {std::string(20, 'x')};
                      }),
                 at(0s))
              .accepted());
    CHECK(d.submit(with(plain_task(9),
                        [&](auto& t) {
                            t.fee = most;
                            t.duration_estimate = 4'294'967'295ms;
                            t.models = {"a", "b", "c"};
                            t.gpus = {{std::string(20, 'x'), 1_GiB}, {"y", 1_GiB}};
                            t.owner = allot::OwnerId{std::string(32, 'x')};
                        }),
                   at(0s))
              .accepted());
}

TEST_CASE("a refusal can be thrown") {
    auto d = Dispatcher{};
    CHECK_THROWS_AS(d.pause(1, at(0s)).or_throw(), allot::RefusedError);
    try {
        (void)d.pause(1, at(0s)).or_throw();
    } catch (const allot::RefusedError& error) {
        CHECK(error.error() == Error::node_unknown);
        CHECK(error.what() == std::string{message(Error::node_unknown)});
    }
}
