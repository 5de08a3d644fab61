#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "crew.hpp"
#include "dapp.hpp"

namespace jobs {

/// What the view shows beside what the dapp and the members say.
struct Scene {
    std::string title;
    std::string broker;
    std::map<std::string, std::string> fates;  ///< What was done to members, by name.
};

/// The live view: on a terminal it is drawn in place, as large as the terminal is, and fits 80 x 24. Else it prints one
/// line for each change.
class View {
public:
    explicit View(bool live);

    /// Returns a line for each MacroJob of all jobs, for whoever looks for a fault.
    [[nodiscard]] static auto macro_lines(const Dapp& dapp) -> std::vector<std::string>;

    void draw(const Dapp& dapp, const Crew& crew, const Scene& scene);

private:
    struct Size {
        std::size_t columns = 80;
        std::size_t rows = 24;
    };
    [[nodiscard]] static auto size() -> Size;
    [[nodiscard]] static auto frame(const Dapp& dapp, const Crew& crew, const Scene& scene, Size size)
        -> std::vector<std::string>;
    void draw_frame(const std::vector<std::string>& lines, Size size) const;
    void print_news(const Dapp& dapp, const Crew& crew, const Scene& scene);

    bool live_;
    std::map<std::string, std::string> last_;
};

}  // namespace jobs
