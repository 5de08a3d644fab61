#pragma once

#include <memory>
#include <utility>

#include <allot/version.hpp>

namespace allot { inline namespace v0 {

/// A value that is `T{}` in most records: these store a null pointer in its place. There are millions of records, and
/// a copy of one without the value is one comparison.
///
/// It is a value: a copy copies it, and one that was made but never changed equals one that was not made. If an
/// allocation or a copy throws, nothing changes.
/// @complexity O(1) for all members but a copy, which is that of `T`.
template <class T>
class Rare {
public:
    Rare() noexcept = default;
    Rare(const Rare& other) : value_{other.value_ == nullptr ? nullptr : std::make_unique<T>(*other.value_)} {}
    Rare(Rare&&) noexcept = default;
    auto operator=(Rare other) noexcept -> Rare& {
        value_.swap(other.value_);
        return *this;
    }
    ~Rare() = default;

    /// The value, or null if it was not made: then it is `T{}`.
    [[nodiscard]] auto find() const noexcept -> const T* { return value_.get(); }

    /// The value, to be changed; made if it was not.
    auto made() -> T& {
        if (value_ == nullptr) { value_ = std::make_unique<T>(); }
        return *value_;
    }

    friend auto operator==(const Rare& a, const Rare& b) -> bool {
        if (a.value_ != nullptr && b.value_ != nullptr) { return *a.value_ == *b.value_; }
        const auto* const one = a.value_ != nullptr ? a.find() : b.find();
        return one == nullptr || *one == T{};
    }

private:
    std::unique_ptr<T> value_;
};

}}  // namespace allot::v0
