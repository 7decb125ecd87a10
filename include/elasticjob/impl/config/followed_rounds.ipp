// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_FOLLOWED_ROUNDS_IPP
#define ELASTICJOB_IMPL_CONFIG_FOLLOWED_ROUNDS_IPP

#include <elasticjob/config/followed_rounds.hpp>
#include <elasticjob/core/line_text.hpp>

namespace elasticjob {

ELASTICJOB_DECL void followed_rounds::follow(job_schedule const* s) {
    if (!s || job != s->job) rounds.clear();
    job = s ? s->job : std::string{};
    after = s ? s->after : round_end{};
    seen = {};
}

ELASTICJOB_DECL void followed_rounds::add(wall_time of, wall_time due) {
    seen = of;
    last = std::max<wall_time>(last + std::chrono::milliseconds{1}, std::chrono::floor<std::chrono::milliseconds>(due));
    if (rounds.size() >= rounds_max) rounds.erase(rounds.begin());
    rounds.push_back({last, of});
}

ELASTICJOB_DECL std::string followed_rounds::to_text() const {
    std::string text{header};
    auto const line = [&](std::string_view key, std::string const& value) {
        text.append(key).append(" ").append(value).append("\n");
    };
    if (!job.empty()) line("follows", detail::followed_text(job_schedule::after_job(job, after)));
    line("seen", detail::milliseconds_text(seen));
    line("last", detail::milliseconds_text(last));
    for (auto const& r : rounds)
        line("round", detail::milliseconds_text(r.due) + " " + detail::milliseconds_text(r.of));
    return text;
}

ELASTICJOB_DECL result<followed_rounds> followed_rounds::parse(std::string_view text) {
    auto const refuse = [](std::string_view line) {
        return error{errc::malformed_data, "not a line of followed rounds", detail::cut_short(line)};
    };
    if (!text.starts_with(header)) return refuse(text.substr(0, text.find('\n')));
    text.remove_prefix(header.size());
    if (auto const lines = std::count(text.begin(), text.end(), '\n'); lines > std::ptrdiff_t{lines_max})
        return error{errc::malformed_data, "followed rounds have at most " + std::to_string(lines_max) +
                                               " lines, not " + std::to_string(lines)};
    followed_rounds all;
    while (!text.empty()) {
        auto const line = text.substr(0, text.find('\n'));
        text.remove_prefix(line.size() == text.size() ? line.size() : line.size() + 1);
        if (!read_line(line, all)) return refuse(line);
    }
    return all;
}

ELASTICJOB_DECL bool followed_rounds::read_line(std::string_view rest, followed_rounds& into) {
    auto const key = detail::take_word(rest);
    if (key == "seen") return detail::read_instant(rest, into.seen);
    if (key == "last") return detail::read_instant(rest, into.last);
    if (key == "follows") {
        job_schedule s;
        if (!detail::read_followed(rest, s)) return false;
        into.job = s.job;
        into.after = s.after;
    }
    if (key != "round") return true;
    auto& r = into.rounds.emplace_back();
    auto const due = detail::take_word(rest);
    return detail::read_instant(due, r.due) && detail::read_instant(rest, r.of);
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CONFIG_FOLLOWED_ROUNDS_IPP
