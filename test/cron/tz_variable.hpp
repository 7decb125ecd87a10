// SPDX-License-Identifier: Apache-2.0
/// \file \brief Sets TZ for as long as it lives. The C library is the reference; only tests may ask it.
#ifndef ELASTICJOB_TEST_CRON_TZ_VARIABLE_HPP
#define ELASTICJOB_TEST_CRON_TZ_VARIABLE_HPP

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>

namespace cron_test {

class tz_variable {
public:
    /// Null: TZ is not set.
    explicit tz_variable(char const* value) {
        if (char const* const old = std::getenv("TZ")) old_ = old;
        set(value);
    }
    ~tz_variable() { set(old_ ? old_->c_str() : nullptr); }
    tz_variable(tz_variable const&) = delete;
    tz_variable& operator=(tz_variable const&) = delete;

    /// The C library's answer, in seconds.
    long offset(std::chrono::sys_seconds t) const {
        std::time_t const time = t.time_since_epoch().count();
        std::tm local{};
        ::localtime_r(&time, &local);
        return local.tm_gmtoff;
    }

private:
    static void set(char const* value) {
        if (value)
            ::setenv("TZ", value, 1);
        else
            ::unsetenv("TZ");
        ::tzset();
    }

    std::optional<std::string> old_;
};

} // namespace cron_test
#endif // ELASTICJOB_TEST_CRON_TZ_VARIABLE_HPP
