#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace service {

/// Named byte strings that all replicas of a cluster share, such as a folder on a network disk, or an object store.
/// An object is written once and never changed. Any thread may call.
class Objects {
public:
    virtual ~Objects() = default;
    /// Stores an object so that it outlasts a crash. False if that failed.
    virtual auto put(const std::string& name, std::span<const std::uint8_t> bytes) -> bool = 0;
    /// None if there is no such object or it cannot be read.
    virtual auto get(const std::string& name) -> std::optional<std::vector<std::uint8_t>> = 0;
    virtual auto list() -> std::vector<std::string> = 0;
    virtual void remove(const std::string& name) = 0;
};

/// Objects as files of one folder, which is made if it is missing. Throws `std::runtime_error` if it cannot be.
[[nodiscard]] auto open_objects(const std::string& folder) -> std::unique_ptr<Objects>;

}  // namespace service
