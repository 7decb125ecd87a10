// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_CHANGE_PAUSES_IPP
#define ELASTICJOB_IMPL_EXECUTION_CHANGE_PAUSES_IPP

#include <elasticjob/execution/change_pauses.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL result<std::optional<std::string>> pauses_after(std::string_view text, std::string_view server,
                                                                bool paused, wall_time now) {
    ELASTICJOB_TRY(auto pauses, job_pauses::parse(text));
    bool has_changed = false;
    if (paused) {
        ELASTICJOB_TRY(has_changed, pauses.pause(server, now));
    } else {
        has_changed = pauses.resume(server, now);
    }
    if (!has_changed) return std::optional<std::string>{};
    return std::optional{pauses.to_text()};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EXECUTION_CHANGE_PAUSES_IPP
