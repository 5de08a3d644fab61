#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "best_response.hpp"
#include "exact.hpp"
#include "measures.hpp"
#include "options.hpp"
#include "run_folder.hpp"

namespace simulate {

/// A preset with parameters of its own: "hardened" or "hardened:rules.draw_among=1:qos.window=30".
struct Contender {
    std::string text{};
    std::string preset{};
    std::vector<std::string> settings{};
};
[[nodiscard]] auto contender_of(const std::string& text) -> Contender;

/// The measures of one row under one contender. Without seeds they are enumerated.
struct Judged {
    std::string attack{};
    std::string row{};
    std::string what{};
    std::string contender{};
    std::uint32_t load_percent = 0;
    std::uint32_t seeds = 0;
    std::string world{};
    std::map<std::string, Measure> measures{};
    std::string knobs{};    ///< Those that the search for a best response changed.
    std::string against{};  ///< The base of an honest cost.
};

/// A case of an adversary that a comparison plays, or one that is enumerated.
struct Chosen {
    const Recipe* recipe = nullptr;
    const Case* row = nullptr;
    const ExactCase* exact = nullptr;

    [[nodiscard]] auto name() const -> const std::string& { return exact != nullptr ? exact->row : row->row; }
};
/// "all", or names of adversaries or rows, separated by commas. Throws `std::invalid_argument` with what exists.
[[nodiscard]] auto choose_attacks(const std::string& list) -> std::vector<Chosen>;

/// The honest network that is attacked.
struct Played {
    std::uint64_t nodes = 0;
    std::uint64_t tasks = 0;  ///< Of all seeds together.
};

/// Plays pairs of runs and measures them.
class Laboratory {
public:
    Laboratory(const Trace& trace, Options options);

    /// Plays as many seeds of a case, or finds them in the folder of runs; at the load of the case, if it has one.
    /// `told` is told of each step of a search.
    auto judge(const Contender& contender, const Chosen& chosen, std::uint32_t load_percent, std::uint32_t seeds,
               const std::function<void(const Knobs&)>& told = {}) -> Judged;
    /// The honest cost of a contender against a base, without an attack; none if their tasks differ.
    auto cost(const Contender& contender, const Contender& base, std::uint32_t load_percent, std::uint32_t seeds)
        -> std::optional<std::map<std::string, Measure>>;

    /// What is attacked, before an attacker joins.
    [[nodiscard]] auto field(const Contender& contender, std::uint32_t load_percent, std::uint32_t seeds) const
        -> Played;

    /// Is called after each pair of runs that counts, with whether one of them was played.
    void after_pair(std::function<void(bool played)> told) { after_pair_ = std::move(told); }

    /// What the tables of one's own network leave out, and how it was derived.
    [[nodiscard]] auto derived() const -> const std::vector<std::string>& { return derived_; }
    [[nodiscard]] auto world() const -> const std::string& { return options_.world; }
    [[nodiscard]] auto runs() const -> const RunFolder& { return runs_; }

private:
    [[nodiscard]] auto scenario_of(const Options& options) const -> Scenario;
    [[nodiscard]] auto options_for(const Contender& contender, std::uint32_t load_percent, std::uint64_t seed) const
        -> Options;
    auto play(const Options& options, const Scenario& scenario, const std::string& role, const Means* means,
              std::unique_ptr<Adversary> adversary) -> Outcome;
    /// Plays something, and tells that a pair is done.
    template <class F>
    void count(const F& f) {
        const auto before = runs_.played();
        f();
        after_pair_(runs_.played() != before);
    }
    auto respond(const Contender& contender, const Chosen& chosen, std::uint32_t load_percent,
                 const std::function<void(const Knobs&)>& told) -> Response;
    auto pair_of(const Options& options, const Chosen& chosen, const Knobs& knobs) -> Pair;

    const Trace& trace_;
    std::uint64_t tables_;  ///< A number for the content of the trace.
    Options options_;
    std::vector<std::string> derived_{};
    std::optional<Scenario> own_{};
    RunFolder runs_;
    std::function<void(bool)> after_pair_ = [](bool) {};
};

/// Does what `--compare` or `--check` say; returns the exit status.
auto compare(const Trace& trace, const Options& options) -> int;

/// A measure as every reader is shown it: "1.282 +- 0.29".
[[nodiscard]] auto text_of(const Measure& measure) -> std::string;
[[nodiscard]] auto table_of(const std::vector<Judged>& all, bool names_world = false) -> std::string;
[[nodiscard]] auto json_of(const std::vector<Judged>& all) -> std::string;

}  // namespace simulate
