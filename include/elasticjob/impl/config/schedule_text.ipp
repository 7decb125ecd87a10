// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_SCHEDULE_TEXT_IPP
#define ELASTICJOB_IMPL_CONFIG_SCHEDULE_TEXT_IPP

#include <elasticjob/config/schedule_text.hpp>
#include <elasticjob/core/line_text.hpp>
#include <elasticjob/cron/quartz_text.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL bool read_span(std::string_view word, std::chrono::milliseconds& into) {
    std::int64_t ms = 0;
    if (!read_number(word, ms)) return false;
    into = std::chrono::milliseconds{ms};
    return true;
}

ELASTICJOB_DECL std::string_view take_word(std::string_view& text) {
    auto const word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size() == text.size() ? word.size() : word.size() + 1);
    return word;
}

ELASTICJOB_DECL std::string followed_text(job_schedule const& s) {
    return std::string{round_end_names[static_cast<std::size_t>(s.after)]} + " " + s.job;
}

ELASTICJOB_DECL bool read_followed(std::string_view text, job_schedule& into) {
    into = job_schedule::after_job({});
    auto const end = take_word(text);
    into.job = text;
    return read_word(end, round_end_names, into.after) && !into.job.empty();
}

ELASTICJOB_DECL std::string civil_rule_text(civil_rule const& rule) {
    return std::string{gap_names[static_cast<std::size_t>(rule.gap)]} + " " +
           std::string{overlap_names[static_cast<std::size_t>(rule.overlap)]};
}

ELASTICJOB_DECL bool read_schedule_line(std::string_view line, job_config& config) {
    auto rest = line;
    auto const key = take_word(rest);
    auto const is = [&](std::string_view name) { return key == name; };
    auto const add = [&](job_schedule s) {
        config.schedules.push_back(std::move(s));
        return true;
    };
    std::chrono::milliseconds span{};
    wall_time at{};
    if (is("cron")) return add(job_schedule::by_cron(std::string{rest}));
    if (is("fixed-rate")) return read_span(rest, span) && add(job_schedule::fixed_rate(span));
    if (is("fixed-delay")) return read_span(rest, span) && add(job_schedule::fixed_delay(span));
    if (is("once-at")) return read_milliseconds(rest, at) && add(job_schedule::once_at(at));
    job_schedule followed;
    if (is("after-job")) return read_followed(rest, followed) && add(std::move(followed));
    if (is("once-now")) return rest.empty() && add(job_schedule::once_now());
    if (is("starts")) return read_milliseconds(rest, config.starts);
    if (is("ends")) return read_milliseconds(rest, config.ends);
    if (is("jitter")) return read_span(rest, config.jitter);
    if (is("time-zone")) return !(config.time_zone = rest).empty();
    if (is("exclude")) return !config.excluded.emplace_back(rest).empty();
    if (!is("named-hours") && !is("every-hour")) return false;
    auto& rule = is("named-hours") ? config.on_clock_change.named_hours : config.on_clock_change.every_hour;
    auto const gap = take_word(rest);
    return read_word(gap, gap_names, rule.gap) && read_word(rest, overlap_names, rule.overlap);
}

} // namespace elasticjob::detail

namespace elasticjob {

ELASTICJOB_DECL std::string to_schedule_text(job_config const& config) {
    std::string text;
    auto const line = [&](std::string_view key, std::string_view value) {
        text.append(key).append(value.empty() ? "" : " ").append(value).append("\n");
    };
    for (job_schedule const& s : config.schedules) switch (s.is) {
        case job_schedule::kind::cron:
            line("cron", detail::with_six_fields(s.expression));
            break;
        case job_schedule::kind::fixed_rate:
            line("fixed-rate", std::to_string(s.span.count()));
            break;
        case job_schedule::kind::fixed_delay:
            line("fixed-delay", std::to_string(s.span.count()));
            break;
        case job_schedule::kind::once_at:
            line("once-at", detail::milliseconds_text(s.at));
            break;
        case job_schedule::kind::once_now:
            line("once-now", "");
            break;
        case job_schedule::kind::after_job:
            line("after-job", detail::followed_text(s));
        }
    job_config const plain;
    auto const rule = [&](std::string_view key, civil_rule const& ours, civil_rule const& standard) {
        if (ours != standard) line(key, detail::civil_rule_text(ours));
    };
    if (!config.time_zone.empty()) line("time-zone", config.time_zone);
    rule("named-hours", config.on_clock_change.named_hours, plain.on_clock_change.named_hours);
    rule("every-hour", config.on_clock_change.every_hour, plain.on_clock_change.every_hour);
    if (config.starts != plain.starts) line("starts", detail::milliseconds_text(config.starts));
    if (config.ends != plain.ends) line("ends", detail::milliseconds_text(config.ends));
    for (auto const& e : config.excluded) line("exclude", e);
    if (config.jitter != plain.jitter) line("jitter", std::to_string(config.jitter.count()));
    return text.empty() ? text : std::string{detail::schedule_header} + text;
}

ELASTICJOB_DECL result<job_config> with_schedule_text(job_config config, std::string_view text) {
    auto const refuse = [](std::string_view line) {
        return error{errc::malformed_data, "this is no line of a schedule: " + detail::in_quotes(line), {}};
    };
    job_config const plain;
    config.schedules.clear();
    config.time_zone.clear();
    config.on_clock_change = plain.on_clock_change;
    config.starts = plain.starts;
    config.ends = plain.ends;
    config.excluded.clear();
    config.jitter = plain.jitter;
    if (text.empty()) return config;
    if (!text.starts_with(detail::schedule_header)) return refuse(text.substr(0, text.find('\n')));
    text.remove_prefix(detail::schedule_header.size());
    if (auto const lines = std::count(text.begin(), text.end(), '\n'); lines > std::ptrdiff_t{schedule_lines_max})
        return error{errc::malformed_data,
                     "a schedule has at most " + std::to_string(schedule_lines_max) + " lines, not " +
                         std::to_string(lines),
                     {}};
    while (!text.empty()) {
        auto const line = text.substr(0, text.find('\n'));
        if (!detail::read_schedule_line(line, config)) return refuse(line);
        text.remove_prefix(line.size() == text.size() ? line.size() : line.size() + 1);
    }
    return config;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CONFIG_SCHEDULE_TEXT_IPP
