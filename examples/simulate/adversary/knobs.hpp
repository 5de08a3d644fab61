#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace simulate {

/// A number that an adversary is tuned with. A search for the best response tries values from `min` to `max`.
struct Knob {
    std::string name{};
    double value = 0;  ///< The default.
    double min = 0;
    double max = 0;
    std::string meaning{};
    bool fixed = false;  ///< A fact of the world, or a part of the means; a search does not change it.
};

/// A row of the table of attacks: an adversary with some knobs set.
struct Case {
    std::string row{};
    std::string what{};
    std::vector<std::pair<std::string, double>> knobs{};
    std::uint32_t load_percent = 0;  ///< The load that the row is about; 0: any.
};

/// The values of all knobs in one run.
class Knobs {
public:
    Knobs() = default;
    explicit Knobs(std::vector<Knob> knobs) : knobs_{std::move(knobs)} {}

    /// The value of a knob. Throws `std::invalid_argument` if there is none of this name.
    [[nodiscard]] auto operator[](std::string_view name) const -> double;
    /// The same, rounded to a whole number.
    [[nodiscard]] auto whole(std::string_view name) const -> std::int64_t;
    /// The same, as yes or no.
    [[nodiscard]] auto is(std::string_view name) const -> bool { return (*this)[name] != 0; }

    /// Sets a knob. Throws `std::invalid_argument`, with the names and ranges that exist, for another name or value.
    void set(std::string_view name, double value);

    [[nodiscard]] auto all() const -> const std::vector<Knob>& { return knobs_; }

private:
    std::vector<Knob> knobs_{};
};

}  // namespace simulate
