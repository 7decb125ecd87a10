// SPDX-License-Identifier: Apache-2.0
/// \file \brief An optional value on the heap, for a large member that most objects do not have.
#ifndef ELASTICJOB_CORE_BOXED_HPP
#define ELASTICJOB_CORE_BOXED_HPP

#include <elasticjob/core/memory.hpp>

#include <utility>

namespace elasticjob::detail {

/// An empty box takes the space of one pointer. Copying copies the value.
template <class T>
class boxed {
public:
    boxed() = default;
    boxed(T value) : value_{std::make_unique<T>(std::move(value))} {} // NOLINT: like std::optional
    boxed(boxed const& other) : value_{other ? std::make_unique<T>(*other) : nullptr} {}
    boxed(boxed&&) noexcept = default;
    boxed& operator=(boxed other) noexcept {
        value_ = std::move(other.value_);
        return *this;
    }

    explicit operator bool() const noexcept { return value_ != nullptr; }
    T& operator*() & noexcept { return *value_; }
    T&& operator*() && noexcept { return std::move(*value_); }
    T const& operator*() const& noexcept { return *value_; }
    T* operator->() noexcept { return value_.get(); }
    T const* operator->() const noexcept { return value_.get(); }
    void reset() noexcept { value_.reset(); }

private:
    std::unique_ptr<T> value_;
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_CORE_BOXED_HPP
