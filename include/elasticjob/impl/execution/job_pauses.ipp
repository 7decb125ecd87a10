// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_JOB_PAUSES_IPP
#define ELASTICJOB_IMPL_EXECUTION_JOB_PAUSES_IPP

#include <elasticjob/config/instant_text.hpp>
#include <elasticjob/config/schedule_text.hpp> // take_word
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/line_text.hpp>
#include <elasticjob/execution/job_pauses.hpp>

#include <utility>

namespace elasticjob {

namespace detail {

ELASTICJOB_DECL bool read_pause(std::string_view line, job_pause& into) {
    auto const subject = take_word(line);
    auto const since = take_word(line);
    auto const until = take_word(line);
    into.server = line;
    if (subject != (line.empty() ? "job" : "server") || !read_instant(since, into.since)) return false;
    if (until == "-") return true;
    wall_time end{};
    if (!read_instant(until, end)) return false;
    into.until = end;
    return true;
}

} // namespace detail

ELASTICJOB_DECL result<job_pauses> job_pauses::parse(std::string_view text) {
    constexpr std::size_t line_max = 300;
    error const too_long{errc::malformed_data, "a job has at most " + std::to_string(pauses_max) + " pauses", {}};
    if (text.size() > pauses_max * line_max) return too_long;
    job_pauses read;
    for (auto const line : detail::split(text, "\n")) {
        if (line.empty()) continue;
        job_pause p;
        if (!detail::read_pause(line, p) || read.find(p.server) != read.all_.end())
            return error{errc::malformed_data, "not a pause of a job, or the second one of its server",
                         detail::cut_short(line)};
        if (read.all_.size() == pauses_max) return too_long;
        read.all_.push_back(std::move(p));
    }
    return read;
}

ELASTICJOB_DECL std::string job_pauses::to_text() const {
    std::string text;
    for (auto const& p : all_) {
        text += p.server.empty() ? "job " : "server ";
        text += detail::milliseconds_text(p.since) + " " + (p.until ? detail::milliseconds_text(*p.until) : "-");
        if (!p.server.empty()) text += " " + p.server;
        text += "\n";
    }
    return text;
}

ELASTICJOB_DECL job_pause const* job_pauses::in_force(std::string_view server) const {
    job_pause const* found = nullptr;
    for (auto const& p : all_) {
        if (p.until || !(p.server.empty() || p.server == server)) continue;
        if (!found || p.server.empty()) found = &p;
    }
    return found;
}

ELASTICJOB_DECL std::optional<wall_time> job_pauses::last_end(std::string_view server) const {
    std::optional<wall_time> last;
    for (auto const& p : all_)
        if (p.until && (p.server.empty() || p.server == server) && (!last || *last < *p.until)) last = p.until;
    return last;
}

ELASTICJOB_DECL result<bool> job_pauses::pause(std::string_view server, wall_time now) {
    auto const at = find(server);
    if (at != all_.end()) {
        if (!at->until) return false;
        *at = {std::string{server}, now, std::nullopt};
        return true;
    }
    if (all_.size() == pauses_max) {
        auto const is_earlier = [](job_pause const& a, job_pause const& b) {
            return a.until && (!b.until || *a.until < *b.until);
        };
        auto const first = std::min_element(all_.begin(), all_.end(), is_earlier);
        if (!first->until)
            return error{errc::too_large,
                         std::to_string(pauses_max) + " servers of the job are paused: pause the job instead", {}};
        all_.erase(first);
    }
    all_.push_back({std::string{server}, now, std::nullopt});
    return true;
}

ELASTICJOB_DECL bool job_pauses::resume(std::string_view server, wall_time now) {
    auto const at = find(server);
    if (at == all_.end() || at->until) return false;
    at->until = now;
    return true;
}

ELASTICJOB_DECL std::vector<job_pause>::iterator job_pauses::find(std::string_view server) {
    return std::find_if(all_.begin(), all_.end(), [&](job_pause const& p) { return p.server == server; });
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EXECUTION_JOB_PAUSES_IPP
