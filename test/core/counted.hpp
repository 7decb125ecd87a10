// SPDX-License-Identifier: Apache-2.0
/// \file \brief An object that is counted while it lives, to put into coroutine frames.
#ifndef ELASTICJOB_TEST_CORE_COUNTED_HPP
#define ELASTICJOB_TEST_CORE_COUNTED_HPP

#include <atomic>

namespace elasticjob::test {

class counted {
public:
    counted() noexcept { ++alive_; }
    counted(counted const&) noexcept { ++alive_; }
    counted& operator=(counted const&) = default;
    ~counted() { --alive_; }

    static int alive() noexcept { return alive_; }

private:
    static inline std::atomic<int> alive_ = 0;
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_CORE_COUNTED_HPP
