#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/turns.hpp"

namespace bench {

/// One line of the table: what was measured, what it should be. Without a goal it is only told.
struct Figure {
    std::string name;
    double ratio = 0;
    double goal = 0;
    enum class Kind { at_least, at_most, told } kind = Kind::told;
    std::string unit = "x";

    [[nodiscard]] auto ok() const -> bool { return kind == Kind::at_least ? ratio >= goal : ratio <= goal; }
};

/// How large, how often, and what came of it.
class Figures {
public:
    std::size_t large = 1'000'000;  ///< The size that the goals are stated for.
    std::size_t rounds = 7;
    bool quick = false;
    std::string growth;  ///< Where the picture and the table of growth go, without their endings; nowhere if empty.

    void at_least(std::string name, double ratio, double goal, std::string unit = "x") {
        all_.push_back({std::move(name), ratio, goal, Figure::Kind::at_least, std::move(unit)});
    }
    void at_most(std::string name, double ratio, double goal, std::string unit = "x") {
        all_.push_back({std::move(name), ratio, goal, Figure::Kind::at_most, std::move(unit)});
    }
    /// The same with what must be and what is aimed at, a line each.
    void at_least(const std::string& name, double ratio, double must, double aim, const std::string& unit) {
        at_least(name, ratio, must, unit);
        at_least(name + ", aim", ratio, aim, unit);
    }
    void at_most(const std::string& name, double ratio, double must, double aim, const std::string& unit) {
        at_most(name, ratio, must, unit);
        at_most(name + ", aim", ratio, aim, unit);
    }
    void told(std::string name, double ratio, std::string unit = "x") {
        all_.push_back({std::move(name), ratio, 0, Figure::Kind::told, std::move(unit)});
    }
    void add(Figure figure) { all_.push_back(std::move(figure)); }

    /// Lets them take turns and prints what an operation took: fewest nanoseconds (median).
    void measure(const std::string& title, std::vector<Contestant>& contestants) const;

    [[nodiscard]] auto all() const -> const std::vector<Figure>& { return all_; }

private:
    std::vector<Figure> all_;
};

/// Ratio of the fewest nanoseconds: the best turn of each is the one that a neighbour disturbed least.
[[nodiscard]] inline auto ratio(const Contestant& a, const Contestant& b) -> double {
    return a.measured.min() / b.measured.min();
}

/// A part of the figures; each subject registers its own, and they run in order of their names.
struct Subject {
    Subject(const char* name, std::function<void(Figures&)> figures);
};
struct RegisteredSubject {
    std::string name;
    std::function<void(Figures&)> figures;
};
[[nodiscard]] auto subjects() -> std::vector<RegisteredSubject>&;

/// Stops the run: contestants that should decide alike did not.
void same(const std::string& what, std::uint64_t a, std::uint64_t b);

}  // namespace bench
