#include "objects.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace service {

namespace {

namespace fs = std::filesystem;

auto is_synced(const fs::path& path, int flags) -> bool {
    const auto file = ::open(path.c_str(), flags | O_CLOEXEC);
    if (file < 0) { return false; }
    const auto done = ::fsync(file) == 0;
    ::close(file);
    return done;
}

class FolderObjects final : public Objects {
public:
    explicit FolderObjects(fs::path folder) : folder_{std::move(folder)} {
        auto error = std::error_code{};
        fs::create_directories(folder_, error);
        if (!fs::is_directory(folder_)) { throw std::runtime_error{folder_.string() + ": cannot be made"}; }
    }

    auto put(const std::string& name, std::span<const std::uint8_t> bytes) -> bool override {
        const auto path = folder_ / name;
        const auto part = fs::path{path}.concat(".part");
        {
            auto file = std::ofstream{part, std::ios::binary | std::ios::trunc};
            file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
            if (!file.flush()) { return false; }
        }
        auto error = std::error_code{};
        if (!is_synced(part, O_RDWR)) { return false; }
        fs::rename(part, path, error);
        return !error && is_synced(folder_, O_RDONLY | O_DIRECTORY);
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
