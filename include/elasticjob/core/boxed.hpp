// SPDX-License-Identifier: Apache-2.0
/// \file \brief An optional value on the heap: for what an object seldom has, and what is larger than a pointer.
#ifndef ELASTICJOB_CORE_BOXED_HPP
#define ELASTICJOB_CORE_BOXED_HPP

#include <elasticjob/core/memory.hpp>

#include <utility>

namespace elasticjob::detail {

/// Takes the room of a pointer when it is empty. A copy has a value of its own.
template <class T>
class boxed {
public:
    boxed() = default;
    boxed(T value) : value_{std::make_unique<T>(std::move(value))} {} // NOLINT: as std::optional does
    boxed(boxed const& other) : value_{other ? std::make_unique<T>(*other) : nullptr} {}
    boxed(boxed&&) noexcept = default;
    boxed& operator=(boxed other) noexcept {
        value_ = std::move(other.value_);
        return *this;
    }

    explicit operator bool() const noexcept { return value_ != nullptr; }
    T& operator*() noexcept { return *value_; }
    T const& operator*() const noexcept { return *value_; }
    T* operator->() noexcept { return value_.get(); }
    T const* operator->() const noexcept { return value_.get(); }
    void reset() noexcept { value_.reset(); }

private:
    std::unique_ptr<T> value_;
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_CORE_BOXED_HPP
