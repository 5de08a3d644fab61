// Worlds that are drawn from written distributions. `examples/data/README.md` states the rules.

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "csv.hpp"
#include "derive.hpp"
#include "hash.hpp"
#include "network.hpp"

namespace simulate {
namespace {

constexpr auto value_max = std::int64_t{1} << 40;  // times a million, it still fits 63 bits

/// A row of `world_drawn.csv`: the end of a part of a distribution, or one choice and its weight.
struct Point {
    std::int64_t at = 0;
    std::int64_t value = 0;
    std::string name{};
};

/// The distributions of `world_drawn.csv`, by quantity.
class Distributions {
public:
    explicit Distributions(const std::string& path) : path_{path} {
        const auto table = Table{path, {"quantity", "at", "value", "name"}};
        for (const auto& row : table.rows()) {
            const auto point = Point{row.integer(1, 0, value_max), row.integer(2, 0, value_max), row.text(3)};
            points_[row.text(0)].push_back(point);
            add_to_digest(fmt::format("{},{},{},{};", row.text(0), point.at, point.value, point.name));
        }
    }

    void add_to_digest(std::string_view text) { digest_ = hash_of(text, digest_); }
    [[nodiscard]] auto digest() const -> std::uint64_t { return digest_; }

    [[nodiscard]] auto all(const std::string& quantity) const -> const std::vector<Point>& {
        const auto found = points_.find(quantity);
        if (found == points_.end()) { refuse(quantity, "has no row"); }
        return found->second;
    }

    /// The value of a quantity that is one number.
    [[nodiscard]] auto number(const std::string& quantity) const -> std::int64_t { return all(quantity).front().value; }

    /// A value from quantiles in thousandths; between two of them all values are equally likely.
    [[nodiscard]] auto quantile(const std::string& quantity, std::uint64_t random) const -> std::int64_t {
        const auto& points = all(quantity);
        const auto rises = [](const Point& a, const Point& b) { return a.at < b.at && a.value <= b.value; };
        for (std::size_t i = 1; i < points.size(); ++i) {
            if (!rises(points[i - 1], points[i])) { refuse(quantity, "does not rise"); }
        }
        if (points.front().at != 0 || points.back().at != 1'000) {
            refuse(quantity, "has not the quantiles 0 to 1000");
        }
        const auto place = static_cast<std::int64_t>(random % 1'000'000);
        const auto next =
            std::find_if(points.begin(), points.end(), [&](const Point& p) { return place < p.at * 1'000; });
        const auto& from = *(next - 1);
        return from.value + (next->value - from.value) * (place - from.at * 1'000) / ((next->at - from.at) * 1'000);
    }

    /// The place of one choice, each in proportion to its weight `at`.
    [[nodiscard]] auto choice(const std::string& quantity, std::uint64_t random) const -> std::size_t {
        const auto& points = all(quantity);
        auto total = std::int64_t{0};
        for (const auto& point : points) { total += point.at; }
        if (total == 0) { refuse(quantity, "has no weight"); }
        auto left = static_cast<std::int64_t>(random % static_cast<std::uint64_t>(total));
        auto place = std::size_t{0};
        for (; left >= points[place].at; ++place) { left -= points[place].at; }
        return place;
    }
    [[nodiscard]] auto chosen(const std::string& quantity, std::uint64_t random) const -> std::int64_t {
        return all(quantity)[choice(quantity, random)].value;
    }

private:
    [[noreturn]] void refuse(const std::string& quantity, std::string_view fault) const {
        throw InputError{path_, 0, 0, fmt::format("the quantity \"{}\" {}", quantity, fault)};
    }

    std::string path_;
    std::map<std::string, std::vector<Point>> points_{};
    std::uint64_t digest_ = 0;
};

/// Draws operators one after the other, each with its nodes, until there are enough.
void draw_nodes(Scenario& scenario, const Distributions& drawn, const Options& options, std::size_t base_models) {
    for (const auto& card : drawn.all("card")) {
        const auto vram = static_cast<std::uint32_t>(card.value);
        scenario.cards.push_back({card.name, card.value * 1'024, vram});
    }
    const auto wanted = static_cast<std::uint64_t>(drawn.number("nodes")) * options.scale_milli / 1'000;
    const auto of = [&](Purpose purpose, std::uint64_t subject) { return hash(options.seed, purpose, subject); };
    while (scenario.nodes.size() < wanted) {
        const auto number = scenario.operators++;
        auto left = drawn.chosen("operator_nodes", of(Purpose::drawn_operator, number));
        for (; left > 0 && scenario.nodes.size() < wanted; --left) {
            const auto i = scenario.nodes.size();
            auto node = make_node(options.seed, i, scenario.arrivals_end_ms, base_models);
            node.operator_id = fmt::format("operator-{}", number);
            node.id = fmt::format("node-{}", i);
            node.model = static_cast<std::uint32_t>(drawn.choice("card", of(Purpose::drawn_card, i)));
            node.stake_milli = std::max(drawn.quantile("stake_milli", of(Purpose::drawn_stake, i)), std::int64_t{1});
            scenario.nodes.push_back(std::move(node));
        }
    }
}

/// Sets what all tasks of these worlds have: owner, price and declared time.
void finish_task(TaskPlan& task, const Distributions& drawn, const Scenario& scenario, std::uint64_t seed,
                 std::uint64_t number) {
    task.owner = zipf(hash(seed, Purpose::task_owner, number), scenario.owners.size());
    const auto price = drawn.quantile("price", hash(seed, Purpose::task_price, number));
    task.fee_per_second = static_cast<std::uint32_t>(task.vram_min * price);
    task.fee = std::max(task.fee_per_second * task.run_ms / 1'000, std::int64_t{1});
    task.declared_ms = task.run_ms;
}

void draw_tasks(Scenario& scenario, const Distributions& drawn, const Options& options, std::uint32_t gang_size) {
    scenario.row_cards.resize(1);  // row 0 accepts any card, row i + 1 the card i
    for (std::uint32_t i = 0; i < scenario.cards.size(); ++i) { scenario.row_cards.push_back({i}); }
    const auto offered = offered_work(scenario, options);
    auto work = std::uint64_t{0};  // thousandths of estimated seconds, as the load is
    for (auto number = std::uint64_t{0}; work < offered; ++number) {
        const auto of = [&](Purpose purpose) { return hash(options.seed, purpose, number); };
        auto task = TaskPlan{};
        // A place in a thousandth of the arrivals is as even as the clock allows.
        const auto place = drawn.quantile("arrival_permille", of(Purpose::drawn_arrival));
        const auto in_place = static_cast<std::int64_t>(of(Purpose::task_jitter) % 1'000);
        task.arrival_ms = (place * 1'000 + in_place) * scenario.arrivals_end_ms / 1'000'000;
        task.run_ms = std::clamp(drawn.quantile("run_ms", of(Purpose::drawn_run)), run_seconds_min * 1'000,
                                 run_seconds_max * 1'000);
        task.vram_min = static_cast<std::uint32_t>(drawn.chosen("vram_min", of(Purpose::drawn_vram)));
        if (drawn.chosen("any_card", of(Purpose::drawn_any_card)) == 0) {
            const auto card = drawn.choice("card", of(Purpose::drawn_named_card));
            task.row = static_cast<std::uint32_t>(card) + 1;
            task.vram_min = std::min(task.vram_min, scenario.cards[card].vram);
        }
        choose_software(task, options.seed, number);
        finish_task(task, drawn, scenario, options.seed, number);
        const auto before = scenario.tasks.size();
        add_task(scenario, task, options.seed, number, gang_size);
        work += (scenario.tasks.size() - before) * static_cast<std::uint64_t>(task.run_ms) * gang_size;
    }
}

// ---- requests to language models ------------------------------------------------------------------------------------

/// A published request: its arrival since the first one, and its work.
struct Request {
    std::int64_t arrival_ms = 0;
    std::int64_t run_ms = 0;
};

/// The time of day of "2023-11-16 18:17:03.9799600"; the trace is of one day.
auto time_ms(const Row& row, std::size_t index) -> std::int64_t {
    const auto& text = row.text(index);
    const auto digits = [&](std::size_t at, std::size_t count) {
        auto number = std::int64_t{0};
        for (auto i = at; i < at + count; ++i) {
            if (text[i] < '0' || text[i] > '9') {
                row.refuse(index, "expected a time such as 2023-11-16 18:17:03.979");
            }
            number = number * 10 + (text[i] - '0');
        }
        return number;
    };
    if (text.size() < 23) { row.refuse(index, "expected a time such as 2023-11-16 18:17:03.979"); }
    return ((digits(11, 2) * 60 + digits(14, 2)) * 60 + digits(17, 2)) * 1'000 + digits(20, 3);
}

auto read_requests(const std::string& path, Distributions& drawn) -> std::vector<Request> {
    const auto table = Table{path, {"TIMESTAMP", "ContextTokens", "GeneratedTokens"}};
    auto requests = std::vector<Request>{};
    const auto first_ms = time_ms(table.rows().front(), 0);
    for (const auto& row : table.rows()) {
        constexpr auto tokens_max = std::int64_t{1'000'000};
        const auto run_ms = drawn.number("request_ms") +
                            drawn.number("context_token_ms") * row.integer(1, 0, tokens_max) +
                            drawn.number("generated_token_ms") * row.integer(2, 0, tokens_max);
        requests.push_back(
            {time_ms(row, 0) - first_ms, std::clamp(run_ms, run_seconds_min * 1'000, run_seconds_max * 1'000)});
        if (requests.back().arrival_ms < 0) { row.refuse(0, "it is before the first row"); }
        drawn.add_to_digest(fmt::format("{},{};", requests.back().arrival_ms, run_ms));
    }
    return requests;
}

/// Copies the requests until they offer the load. Copies of one arrive within a minute after it.
void add_requests(Scenario& scenario, const std::vector<Request>& requests, const std::vector<std::uint32_t>& vram,
                  const Distributions& drawn, const Options& options, std::uint32_t gang_size) {
    scenario.row_cards.resize(1);  // all accept any card
    auto work = std::uint64_t{0};
    for (const auto& request : requests) { work += static_cast<std::uint64_t>(request.run_ms) * gang_size; }
    if (gang_size == 1) { work += work * rule::grouped_permille * (rule::group_size - 1) / 1'000; }
    scenario.copies_milli = offered_work(scenario, options) * 1'000 / work;
    const auto last_ms = requests.back().arrival_ms + 1;
    scenario.compression_milli = static_cast<std::uint64_t>(last_ms * 1'000 / scenario.arrivals_end_ms);
    auto number = std::uint64_t{0};
    for (std::size_t row = 0; row < requests.size(); ++row) {
        const auto copies = copies_of(row, scenario.copies_milli);
        for (std::uint64_t copy = 0; copy < copies; ++copy, ++number) {
            auto task = TaskPlan{};
            const auto jitter = hash(options.seed, Purpose::task_jitter, number) % 60'000;
            const auto later_ms = copy == 0 ? std::int64_t{0} : static_cast<std::int64_t>(jitter);
            task.arrival_ms = requests[row].arrival_ms * scenario.arrivals_end_ms / last_ms + later_ms;
            task.run_ms = requests[row].run_ms;
            task.software = zipf(hash(options.seed, Purpose::task_model, number), vram.size());
            task.adapter = task.software;
            task.vram_min = vram[task.software];
            finish_task(task, drawn, scenario, options.seed, number);
            add_task(scenario, task, options.seed, number, gang_size);
        }
    }
}

}  // namespace

auto draw_scenario(const Options& options) -> Scenario {
    auto drawn = Distributions{options.data_folder + "/world_drawn.csv"};
    auto scenario = Scenario{};
    scenario.arrivals_end_ms = std::int64_t{options.hours} * 3'600'000;
    scenario.cold_ms = drawn.number("cold_start_ms");
    for (auto i = std::int64_t{0}; i < drawn.number("owners"); ++i) {
        scenario.owners.push_back(fmt::format("owner-{}", i));
    }
    const auto gang_size = find_preset(options.preset).gang_size;
    if (options.source == Source::drawn) {
        scenario.source = "nodes and tasks drawn from world_drawn.csv";
        scenario.software.assign(base_names.begin(), base_names.end());
        scenario.software.insert(scenario.software.end(), adapter_names.begin(), adapter_names.end());
        draw_nodes(scenario, drawn, options, base_names.size());
        draw_tasks(scenario, drawn, options, gang_size);
    } else {
        scenario.source = "nodes, owners and prices drawn from world_drawn.csv, requests of azure_llm_code_2023.csv";
        auto vram = std::vector<std::uint32_t>{};
        const auto models = Table{options.data_folder + "/model_vram.csv", {"model", "vram_gib"}};
        for (const auto& row : models.rows()) {
            scenario.software.push_back(row.text(0));
            vram.push_back(static_cast<std::uint32_t>(row.integer(1, 1, 4'096)));
            drawn.add_to_digest(fmt::format("{},{};", scenario.software.back(), vram.back()));
        }
        const auto requests = read_requests(options.data_folder + "/azure_llm_code_2023.csv", drawn);
        draw_nodes(scenario, drawn, options, vram.size());
        add_requests(scenario, requests, vram, drawn, options, gang_size);
    }
    scenario.digest = drawn.digest();
    sort_by_arrival(scenario);
    assign_deciles(scenario);
    return scenario;
}

}  // namespace simulate
