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

/// The folder of the recorded cases: our own, or what the environment variable ALLOT_VECTORS names.
inline auto vectors() -> std::filesystem::path {
    const auto* given = std::getenv("ALLOT_VECTORS");
    return given != nullptr && *given != '\0' ? std::filesystem::path{given} : own_vectors();
}

/// A file of recorded cases. Another folder than our own need not have each: what is not there is said, and is none. It has to
/// have one of ours, and our own all: else this throws.
inline auto vector_file(const std::string& name) -> std::optional<std::filesystem::path> {
    const auto folder = vectors();
    if (std::filesystem::exists(folder / name)) {
        return folder / name;
    }
    const auto ours = std::filesystem::directory_iterator{own_vectors()};
    const auto there = [&](const std::filesystem::directory_entry& entry) {
        return entry.path().extension() == ".json" && std::filesystem::exists(folder / entry.path().filename());
    };
    if (folder == own_vectors()) {
        throw std::runtime_error{folder.string() + " has lost " + name};
    }
    if (std::none_of(begin(ours), end(ours), there)) {
        throw std::runtime_error{folder.string() + " has no file of recorded cases; ALLOT_VECTORS names their folder"};
    }
    std::fprintf(stderr, "%s: skipped, for it is not in %s\n", name.c_str(), folder.string().c_str());
    return std::nullopt;
}

}  // namespace support
