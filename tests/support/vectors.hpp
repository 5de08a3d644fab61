#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

namespace support {

/// Our own folder of recorded cases.
inline auto own_vectors() -> std::filesystem::path { return std::filesystem::path{ALLOT_TESTS_DIR} / "vectors"; }

/// The folder of the recorded cases: our own, or the one that the environment variable ALLOT_VECTORS names.
inline auto vectors() -> std::filesystem::path {
    const auto* given = std::getenv("ALLOT_VECTORS");
    return given != nullptr && *given != '\0' ? std::filesystem::path{given} : own_vectors();
}

/// Returns a file of recorded cases. A folder other than our own may lack some of them: a missing one is reported, and
/// none is returned. Throws if that folder has none of our files, or if our own folder lacks one.
inline auto vector_file(const std::string& name) -> std::optional<std::filesystem::path> {
    const auto folder = vectors();
    if (std::filesystem::exists(folder / name)) { return folder / name; }
    const auto ours = std::filesystem::directory_iterator{own_vectors()};
    const auto there = [&](const std::filesystem::directory_entry& entry) {
        return entry.path().extension() == ".json" && std::filesystem::exists(folder / entry.path().filename());
    };
    if (folder == own_vectors()) { throw std::runtime_error{folder.string() + " has lost " + name}; }
    if (std::none_of(begin(ours), end(ours), there)) {
        throw std::runtime_error{folder.string() + " has no file of recorded cases; ALLOT_VECTORS names their folder"};
    }
    std::fprintf(stderr, "%s: skipped, for it is not in %s\n", name.c_str(), folder.string().c_str());
    return std::nullopt;
}

}  // namespace support
