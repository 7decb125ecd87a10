// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_PENDING_SIGN_INS_IPP
#define ELASTICJOB_IMPL_CONSOLE_PENDING_SIGN_INS_IPP

#include <elasticjob/console/pending_sign_ins.hpp>
#include <elasticjob/console/secret_text.hpp>
#include <elasticjob/core/algorithm.hpp>

#include <utility>

namespace elasticjob::detail {

ELASTICJOB_DECL result<begun_sign_in> pending_sign_ins::begin(std::string const& client, mono_time now) {
    begun_sign_in drawn;
    for (auto* const text : {&drawn.cookie, &drawn.state, &drawn.nonce, &drawn.verifier}) {
        auto token = random_token();
        if (!token) return error{errc::overloaded, "the system has no random bytes", "sign-in"};
        *text = *std::move(token);
    }
    std::lock_guard const lock{mutex_};
    std::erase_if(all_, [&](auto const& one) { return one.second.ends <= now; });
    auto const is_clients = [&](auto const& one) { return one.second.client == client; };
    if (all_.size() >= all_max ||
        static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), is_clients)) >= client_max)
        return error{errc::overloaded, "too many sign-ins have been begun and not ended: try again later", "sign-in"};
    all_.emplace(drawn.cookie, pending{drawn, client, now + length_max});
    return drawn;
}

ELASTICJOB_DECL std::optional<begun_sign_in> pending_sign_ins::take(std::string_view cookie, std::string_view state,
                                                                    mono_time now) {
    std::lock_guard const lock{mutex_};
    auto const there = all_.find(cookie);
    if (there == all_.end() || there->second.ends <= now || !is_same_secret(there->second.what.state, state))
        return std::nullopt;
    auto taken = std::move(there->second.what);
    all_.erase(there);
    return taken;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_PENDING_SIGN_INS_IPP
