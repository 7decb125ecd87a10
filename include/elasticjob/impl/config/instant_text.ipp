// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_INSTANT_TEXT_IPP
#define ELASTICJOB_IMPL_CONFIG_INSTANT_TEXT_IPP

#include <elasticjob/config/instant_text.hpp>
#include <elasticjob/cron/search.hpp> // schedule_end

namespace elasticjob::detail {

ELASTICJOB_DECL std::string milliseconds_text(wall_time t) {
    return std::to_string(std::chrono::floor<std::chrono::milliseconds>(t.time_since_epoch()).count());
}

ELASTICJOB_DECL bool read_milliseconds(std::string_view word, wall_time& into) {
    // Times beyond these limits do not fit into a clock's nanoseconds.
    constexpr auto low = std::chrono::ceil<std::chrono::milliseconds>(wall_time::min().time_since_epoch()).count();
    constexpr auto high = std::chrono::floor<std::chrono::milliseconds>(wall_time::max().time_since_epoch()).count();
    std::int64_t ms = 0;
    if (!read_number(word, ms) || ms < low || ms > high) return false;
    into = wall_time{std::chrono::milliseconds{ms}};
    return true;
}

ELASTICJOB_DECL bool read_instant(std::string_view word, wall_time& into) {
    return read_instant_since({}, word, into);
}

ELASTICJOB_DECL bool read_instant_since(wall_time earlier, std::string_view word, wall_time& into) {
    using std::chrono::milliseconds;
    constexpr milliseconds begin = -std::chrono::hours{24 * 365};
    constexpr milliseconds end = std::chrono::seconds{schedule_end} - begin;
    std::int64_t ms = 0;
    if (!read_number(word, ms) || ms < (begin - end).count() || ms > (end - begin).count()) return false;
    auto const t = std::chrono::floor<milliseconds>(earlier.time_since_epoch()) + milliseconds{ms};
    if (t < begin || t >= end) return false;
    into = wall_time{t};
    return true;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONFIG_INSTANT_TEXT_IPP
