// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_MEMBERSHIP_REGISTRATION_IPP
#define ELASTICJOB_IMPL_MEMBERSHIP_REGISTRATION_IPP

#include <elasticjob/membership/registration.hpp>

namespace elasticjob {

ELASTICJOB_DECL registration_step registration::next(registration_facts const& f) {
    using step = registration_step;
    if (phase_ == phase::over) return step::rest;
    if (phase_ == phase::removed) return step::find_out_why;
    if (f.session.generation != f.generation) {
        if (phase_ != phase::expired) {
            phase_ = phase::expired;
            return step::stop_runs;
        }
        if (f.session.state == session_state::connected) return step::enroll_again;
    }
    if (f.is_registered() && f.owner == f.session.id) phase_ = phase::confirmed;
    if (f.stands_down) { // other instances run the due items
        phase_ = phase::over;
        return step::rest;
    }
    if (f.has_config || !f.is_registered()) config_gone_since_.reset();
    if (!f.is_registered()) return step::rest;
    if (!f.owner) {
        if (phase_ != phase::confirmed) return step::look_for_node;
        phase_ = phase::removed;
        return step::find_out_why;
    }
    if (f.has_config) return step::rest;
    if (!config_gone_since_) config_gone_since_ = f.now;
    return step::look_for_tombstone;
}

ELASTICJOB_DECL bool registration::node_read(bool is_there, registration_facts const& f) {
    if (is_there || !f.is_registered()) return false;
    phase_ = phase::removed;
    return true;
}

ELASTICJOB_DECL bool registration::tombstone_read(bool is_there, registration_facts const& f) {
    if (f.has_config || !f.is_registered() || !config_gone_since_) return false;
    if (!is_there && f.now < *config_gone_since_ + config_timeout) return false;
    phase_ = phase::over;
    return true;
}

ELASTICJOB_DECL void registration::enrolled() noexcept {
    phase_ = phase::unconfirmed;
    config_gone_since_.reset();
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_MEMBERSHIP_REGISTRATION_IPP
