#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "outcome.hpp"

namespace simulate {

/// Runs that have been played, one small file for each, so that a comparison goes on where it was stopped.
///
/// A run is found by its description, which names all its inputs; the program's own bytes are one of them, so no result
/// of another program is taken.
class RunFolder {
public:
    /// Makes the folder; without a name nothing is kept. Throws `std::runtime_error` if it cannot be made.
    explicit RunFolder(std::string folder);

    /// The outcome of a described run: from memory or its file, or else played and written.
    auto get(const std::string& description, const std::function<Outcome()>& play) -> const Outcome&;

    [[nodiscard]] auto played() const -> std::uint64_t { return played_; }
    [[nodiscard]] auto found() const -> std::uint64_t { return found_; }

private:
    auto find_or_play(const std::string& description, const std::function<Outcome()>& play) -> Outcome;

    std::map<std::string, Outcome> known_{};
    std::string folder_;
    std::string program_{};
    std::uint64_t played_ = 0;
    std::uint64_t found_ = 0;
};

}  // namespace simulate
