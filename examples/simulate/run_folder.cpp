#include "run_folder.hpp"

#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "hash.hpp"

namespace simulate {
namespace {

auto text_of(const std::string& path) -> std::string {
    auto stream = std::ifstream{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{stream}, {}};
}

}  // namespace

RunFolder::RunFolder(std::string folder) : folder_{std::move(folder)} {
    if (folder_.empty()) { return; }
    std::filesystem::create_directories(folder_);
    program_ = fmt::format("{:016x}", hash_of(text_of("/proc/self/exe")));  // elsewhere: that of no program
}

auto RunFolder::get(const std::string& description, const std::function<Outcome()>& play) -> const Outcome& {
    const auto known = known_.find(description);
    return known != known_.end() ? known->second
                                 : known_.emplace(description, find_or_play(description, play)).first->second;
}

auto RunFolder::find_or_play(const std::string& description, const std::function<Outcome()>& play) -> Outcome {
    if (folder_.empty()) {
        ++played_;
        return play();
    }
    const auto full = description + " program " + program_;
    const auto path = fmt::format("{}/{:016x}.json", folder_, hash_of(full));
    if (std::filesystem::exists(path)) {
        try {
            auto outcome = read_outcome(text_of(path), full);
            ++found_;
            return outcome;
        } catch (const std::exception& error) {
            throw std::runtime_error{fmt::format("{}: {}; remove it to play the run again", path, error.what())};
        }
    }
    auto outcome = play();
    ++played_;
    const auto part = fmt::format("{}.{}.part", path, std::random_device{}());  // two programs may share the folder
    {
        auto stream = std::ofstream{part, std::ios::binary};
        stream << write_outcome(outcome, full);
        stream.close();
        if (!stream) { throw std::runtime_error{part + ": cannot be written"}; }
    }
    std::filesystem::rename(part, path);  // so that a run that was stopped leaves no half of a file
    return outcome;
}

}  // namespace simulate
