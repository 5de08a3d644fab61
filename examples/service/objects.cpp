#include "objects.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include "files.hpp"

namespace service {

namespace {

namespace fs = std::filesystem;

class FolderObjects final : public Objects {
public:
    explicit FolderObjects(fs::path folder) : folder_{std::move(folder)} {
        auto error = std::error_code{};
        fs::create_directories(folder_, error);
        if (!fs::is_directory(folder_)) { throw std::runtime_error{folder_.string() + ": cannot be made"}; }
    }

    auto put(const std::string& name, std::span<const std::uint8_t> bytes) -> bool override {
        return !write_whole(folder_ / name, bytes);
    }
    auto get(const std::string& name) -> std::optional<std::vector<std::uint8_t>> override {
        auto file = std::ifstream{folder_ / name, std::ios::binary};
        if (!file) { return std::nullopt; }
        return std::vector<std::uint8_t>{std::istreambuf_iterator<char>{file}, {}};
    }
    auto list() -> std::vector<std::string> override {
        auto out = std::vector<std::string>{};
        auto error = std::error_code{};
        for (const auto& entry : fs::directory_iterator{folder_, error}) { out.push_back(entry.path().filename()); }
        return out;
    }
    void remove(const std::string& name) override {
        auto error = std::error_code{};
        fs::remove(folder_ / name, error);
    }

private:
    fs::path folder_;
};

}  // namespace

auto open_objects(const std::string& folder) -> std::unique_ptr<Objects> {
    return std::make_unique<FolderObjects>(folder);
}

}  // namespace service
