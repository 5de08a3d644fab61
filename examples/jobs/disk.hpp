#pragma once

#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>

#include "wire.hpp"

namespace jobs {

/// A member's file. Whoever is killed at any moment finds the old state there or the new one, never a half: the new one
/// is written beside it and then renamed. (Against a power cut the file would also need a call of `fsync`.)
class Disk {
public:
    explicit Disk(std::string path) : path_{std::move(path)} {}

    void save(const std::vector<Saved>& jobs) const {
        const auto beside = path_ + ".new";
        {
            auto out = std::ofstream{beside, std::ios::binary | std::ios::trunc};
            out << encode(jobs);
            if (!out.flush()) { throw std::runtime_error{"cannot write " + beside + "; is the disk full?"}; }
        }
        if (std::rename(beside.c_str(), path_.c_str()) != 0) {
            throw std::runtime_error{"cannot rename " + beside + "; may this user write there?"};
        }
    }
    /// Returns what was saved last; nothing at a first start.
    [[nodiscard]] auto load() const -> std::vector<Saved> {
        auto in = std::ifstream{path_, std::ios::binary};
        if (!in) { return {}; }
        auto saved = decode_saved({std::istreambuf_iterator<char>{in}, {}});
        if (!saved) { throw std::runtime_error{path_ + " is damaged; remove it, and the member begins anew"}; }
        return *saved;
    }

private:
    std::string path_;
};

}  // namespace jobs
