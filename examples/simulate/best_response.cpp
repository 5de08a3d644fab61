#include "best_response.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace simulate {
namespace {

constexpr auto grid_size = 5;
constexpr auto rounds_max = 4;
constexpr auto refinements = 3;

/// The range of a knob as a line from 0 to 1.
class Scale {
public:
    explicit Scale(const Knob& knob) : knob_{&knob} {
        const auto low = knob.min > 0 ? knob.min : knob.max * 1e-6;
        logarithmic_ = knob.min >= 0 && knob.max > 100 * (knob.min > 0 ? knob.min : 1.0);
        low_ = logarithmic_ ? std::log(low) : knob.min;
        high_ = logarithmic_ ? std::log(knob.max) : knob.max;
    }

    [[nodiscard]] auto value(double place) const -> double {
        const auto at = low_ + (high_ - low_) * std::clamp(place, 0.0, 1.0);
        return std::clamp(logarithmic_ ? std::exp(at) : at, knob_->min, knob_->max);
    }
    [[nodiscard]] auto place(double value) const -> double {
        if (logarithmic_ && value <= 0) { return 0; }
        return std::clamp(((logarithmic_ ? std::log(value) : value) - low_) / (high_ - low_), 0.0, 1.0);
    }
    [[nodiscard]] auto has_zero() const -> bool { return logarithmic_ && knob_->min == 0; }

private:
    const Knob* knob_;
    double low_ = 0;
    double high_ = 1;
    bool logarithmic_ = false;
};

/// Asks about knobs, each once, and keeps the best.
class Climber {
public:
    Climber(const Search& search, Knobs start) : search_{search}, best_{std::move(start)} {
        value_ = ask(best_).value_or(-std::numeric_limits<double>::infinity());
    }

    /// Tries a value of one knob; true if it is better than all before.
    auto tries(const std::string& name, double value) -> bool {
        auto knobs = best_;
        knobs.set(name, value);
        const auto reached = ask(knobs);
        if (!reached || *reached <= value_) { return false; }
        best_ = std::move(knobs);
        value_ = *reached;
        return true;
    }

    [[nodiscard]] auto best() const -> const Knobs& { return best_; }
    [[nodiscard]] auto value() const -> double { return value_; }
    [[nodiscard]] auto asked() const -> std::uint32_t { return static_cast<std::uint32_t>(answers_.size()); }

private:
    auto ask(const Knobs& knobs) -> std::optional<double> {
        auto key = std::vector<double>{};
        for (const auto& knob : knobs.all()) { key.push_back(knob.value); }
        auto known = answers_.find(key);
        if (known == answers_.end()) {
            if (search_.told) { search_.told(knobs); }
            known = answers_.emplace(key, search_.aim(knobs)).first;
        }
        return std::isfinite(known->second) ? std::optional{known->second} : std::nullopt;
    }

    const Search& search_;
    Knobs best_;
    double value_ = 0;
    std::map<std::vector<double>, double> answers_{};
};

/// True for a knob that is yes or no, which has no values between.
auto is_switch(const Knob& knob) -> bool {
    return knob.min == 0 && knob.max == 1 && (knob.value == 0 || knob.value == 1);
}

auto over_grid(Climber& climber, const Knob& knob) -> bool {
    const auto scale = Scale{knob};
    auto better = scale.has_zero() && climber.tries(knob.name, 0);
    const auto places = is_switch(knob) ? 2 : grid_size;
    for (auto i = 0; i < places; ++i) {
        better = climber.tries(knob.name, scale.value(static_cast<double>(i) / (places - 1))) || better;
    }
    return better;
}

}  // namespace

auto knobs_of(const Recipe& recipe, const Case& chosen) -> Knobs {
    auto knobs = Knobs{recipe.knobs};
    for (const auto& [name, value] : chosen.knobs) { knobs.set(name, value); }
    return knobs;
}

auto best_response(const Recipe& recipe, const Case& chosen, const Search& search) -> Response {
    const auto start = knobs_of(recipe, chosen);
    auto free = std::vector<Knob>{};
    for (const auto& knob : start.all()) {
        const auto names = [&](const auto& one) { return one.first == knob.name; };
        const auto stated = std::any_of(chosen.knobs.begin(), chosen.knobs.end(), names);
        if (!knob.fixed && !stated) { free.push_back(knob); }
    }
    auto climber = Climber{search, start};
    for (auto round = 0; round < rounds_max; ++round) {
        auto better = false;
        for (const auto& knob : free) { better = over_grid(climber, knob) || better; }
        if (!better) { break; }
    }
    auto step = 1.0 / (grid_size - 1);
    for (auto round = 0; round < refinements; ++round) {
        step /= 2;
        for (const auto& knob : free) {
            if (is_switch(knob)) { continue; }
            const auto scale = Scale{knob};
            const auto place = scale.place(climber.best()[knob.name]);
            for (const auto side : {-step, step}) { climber.tries(knob.name, scale.value(place + side)); }
        }
    }
    auto response = Response{climber.best(), climber.value(), climber.asked(), {}};
    for (const auto& knob : start.all()) {
        const auto found = response.knobs[knob.name];
        if (found == knob.value) { continue; }
        response.changed +=
            fmt::format("{}{}={:.4g} ({:.4g})", response.changed.empty() ? "" : ", ", knob.name, found, knob.value);
    }
    return response;
}

}  // namespace simulate
