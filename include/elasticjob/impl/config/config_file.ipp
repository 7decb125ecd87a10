// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_CONFIG_FILE_IPP
#define ELASTICJOB_IMPL_CONFIG_CONFIG_FILE_IPP

#include <elasticjob/config/config_file.hpp>
#include <elasticjob/config/fields.hpp>
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/config/json_text.hpp>
#include <elasticjob/config/schedule_text.hpp> // names of the rules
#include <elasticjob/config/text.hpp>
#include <elasticjob/config/utc_text.hpp>
#include <elasticjob/config/validation.hpp> // problems_listed_max
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/line_text.hpp>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib> // getenv
#include <cstring> // strerror
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace elasticjob::detail {

inline constexpr std::array<std::string_view, 3> misfire_rule_names{"skip", "once", "all"};
inline constexpr std::array<std::string_view, 3> clock_rule_names{"skip", "report", "stand_down"};

// Each `read_value` stores a value, or returns a description of the expected value.

ELASTICJOB_DECL char const* read_value(std::string& to, json_value const& value) { return assign(to, value); }
ELASTICJOB_DECL char const* read_value(int& to, json_value const& value) { return assign(to, value); }

ELASTICJOB_DECL char const* read_value(bool& to, json_value const& value) {
    bool const is_text = value.is == json_value::kind::string || value.is == json_value::kind::boolean;
    if (!is_text || (value.text != "true" && value.text != "false")) return "true or false";
    to = value.text == "true";
    return nullptr;
}

ELASTICJOB_DECL char const* read_value(std::uint32_t& to, json_value const& value) {
    bool const is_text = value.is == json_value::kind::string || value.is == json_value::kind::number;
    return is_text && read_number(value.text, to) ? nullptr : "a whole number from 0 to 4294967295";
}

ELASTICJOB_DECL char const* read_value(job_type& to, json_value const& value) {
    static constexpr std::array<std::string_view, 3> names{"simple", "dataflow", "script"};
    return value.is == json_value::kind::string && (read_word(value.text, names, to) || !assign(to, value))
               ? nullptr
               : "simple, dataflow or script";
}

template <std::size_t N, class Enum>
char const* read_name(Enum& to, json_value const& value, std::array<std::string_view, N> const& names,
                      char const* expected) {
    return value.is == json_value::kind::string && read_word(value.text, names, to) ? nullptr : expected;
}

ELASTICJOB_DECL char const* read_value(gap_rule& to, json_value const& value) {
    return read_name(to, value, gap_names, "skip or shift");
}
ELASTICJOB_DECL char const* read_value(overlap_rule& to, json_value const& value) {
    return read_name(to, value, overlap_names, "first, last or both");
}
ELASTICJOB_DECL char const* read_value(misfire_rule& to, json_value const& value) {
    return read_name(to, value, misfire_rule_names, "skip, once or all");
}
ELASTICJOB_DECL char const* read_value(clock_rule& to, json_value const& value) {
    return read_name(to, value, clock_rule_names, "skip, report or stand_down");
}
ELASTICJOB_DECL char const* read_value(round_end& to, json_value const& value) {
    return read_name(to, value, round_end_names, "completed, failed or ended");
}

ELASTICJOB_DECL char const* read_value(std::chrono::milliseconds& to, json_value const& value) {
    constexpr auto expected = "a span of time with its unit, as 500ms, 30s, 5min, 2h or 1d; or 0";
    struct unit {
        std::string_view name;
        std::int64_t milliseconds;
    };
    static constexpr unit units[] = {{"ms", 1},     {"s", 1'000},     {"min", 60'000},
                                     {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
    if (value.is != json_value::kind::string && !(value.is == json_value::kind::number && value.text == "0"))
        return expected;
    auto const digits = value.text.find_first_not_of("0123456789");
    std::int64_t count = 0;
    if (!read_number(value.text.substr(0, digits), count)) return expected;
    if (digits == value.text.npos) {
        to = {};
        return count == 0 ? nullptr : expected;
    }
    for (auto const& [name, milliseconds] : units) {
        if (value.text.substr(digits) != name) continue;
        if (count > std::numeric_limits<std::int64_t>::max() / milliseconds) return "at most some million years";
        to = std::chrono::milliseconds{count * milliseconds};
        return nullptr;
    }
    return expected;
}

ELASTICJOB_DECL char const* read_value(std::chrono::seconds& to, json_value const& value) {
    std::chrono::milliseconds span{};
    if (auto const* expected = read_value(span, value)) return expected;
    to = std::chrono::duration_cast<std::chrono::seconds>(span);
    return to == span ? nullptr : "a span of whole seconds";
}

ELASTICJOB_DECL char const* read_value(wall_time& to, json_value const& value) {
    bool const is_read = value.is == json_value::kind::string && read_utc(value.text, to);
    return is_read ? nullptr : "an instant as 2026-12-24T18:00:00Z, or with an offset in place of Z, as +02:00";
}

/// Calls `visit(name, member)` with the path and the member for each value that the registry stores.
template <class Config, class Visit>
void for_each_stored_field(Config& c, Visit visit) {
    visit("name", c.name);
    visit("cron", c.cron);
    visit("sharding_total_count", c.sharding_total_count);
    visit("sharding_item_parameters", c.sharding_item_parameters);
    visit("job_parameter", c.job_parameter);
    visit("failover", c.failover);
    visit("misfire", c.misfire);
    visit("description", c.description);
    visit("job_class", c.job_class);
    visit("type", c.type);
    visit("job_exception_handler", c.job_exception_handler);
    visit("executor_service_handler", c.executor_service_handler);
    visit("streaming_process", c.streaming_process);
    visit("script_command_line", c.script_command_line);
    visit("monitor_execution", c.monitor_execution);
    visit("max_time_diff_seconds", c.max_time_diff_seconds);
    visit("monitor_port", c.monitor_port);
    visit("job_sharding_strategy_class", c.job_sharding_strategy_class);
    visit("reconcile_interval_minutes", c.reconcile_interval_minutes);
    visit("disabled", c.disabled);
    visit("overwrite", c.overwrite);
    visit("time_zone", c.time_zone);
    visit("on_clock_change.named_hours.gap", c.on_clock_change.named_hours.gap);
    visit("on_clock_change.named_hours.overlap", c.on_clock_change.named_hours.overlap);
    visit("on_clock_change.every_hour.gap", c.on_clock_change.every_hour.gap);
    visit("on_clock_change.every_hour.overlap", c.on_clock_change.every_hour.overlap);
    visit("starts", c.starts);
    visit("ends", c.ends);
    visit("jitter", c.jitter);
    visit("item_labels", c.item_labels);
}

/// As above, and also for the values that are an instance's own.
template <class Visit>
void for_each_written_field(job_config& c, Visit visit) {
    for_each_stored_field(c, visit);
    visit("on_misfire.rule", c.on_misfire.rule);
    visit("on_misfire.runs_max", c.on_misfire.runs_max);
    visit("on_misfire.max_lateness", c.on_misfire.max_lateness);
    visit("run_time_limit", c.run_time_limit);
    visit("give_up_after", c.give_up_after);
    visit("retry.attempts_max", c.retry.attempts_max);
    visit("retry.pause", c.retry.pause);
    visit("retry.factor", c.retry.factor);
    visit("retry.pause_max", c.retry.pause_max);
    visit("retry.spread_percent", c.retry.spread_percent);
    visit("retry.hourly_max", c.retry.hourly_max);
    visit("dead_letters_max", c.dead_letters_max);
    visit("on_wrong_clock", c.on_wrong_clock);
    visit("dataflow.fetch_count", c.dataflow.fetch_count);
    visit("dataflow.threads", c.dataflow.threads);
    visit("dataflow.count_interval", c.dataflow.count_interval);
}

/// The edit distance of two short names: letters inserted, removed or changed.
ELASTICJOB_DECL std::size_t distance_between(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        auto diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            auto const changed = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
        }
    }
    return row[b.size()];
}

/// Receives RapidJSON's events and fills in a configuration. It records problems and continues.
class config_file_listener : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, config_file_listener> {
public:
    config_file_listener(json_text const& text, variable_lookup find) : text_{text}, find_{find} {}

    bool Null() { return take({json_value::kind::null}); }
    bool Bool(bool value) { return take({json_value::kind::boolean, value ? "true" : "false"}); }
    bool RawNumber(char const* text, rapidjson::SizeType length, bool) {
        return take({json_value::kind::number, {text, length}});
    }
    bool String(char const* text, rapidjson::SizeType length, bool) {
        if (!find_) return take({json_value::kind::string, {text, length}});
        auto expanded = expand({text, length});
        return expanded ? take({json_value::kind::string, *expanded}) : goes_on();
    }
    bool Key(char const* text, rapidjson::SizeType length, bool) {
        key_.assign(text, length);
        return true;
    }
    bool StartObject() { return open(false); }
    bool StartArray() { return open(true); }
    bool EndObject(rapidjson::SizeType) { return close(); }
    bool EndArray(rapidjson::SizeType) { return close(); }

    std::vector<error>& problems() noexcept { return problems_; }
    job_config& config() noexcept { return config_; }

private:
    static constexpr std::size_t depth_max = 5;

    struct level {
        std::string path; ///< prefix of the paths of its members
        bool is_list;
        bool is_skipped = false; ///< it has already been reported as a problem
        std::size_t count = 0;   ///< members or elements so far
    };

    /// The path of the next value.
    std::string path_here() {
        if (levels_.empty()) return {};
        auto& in = levels_.back();
        return in.is_list ? in.path + "[" + std::to_string(in.count++) + "]"
                          : in.path + (in.path.empty() ? "" : ".") + key_;
    }

    bool open(bool is_list) {
        auto path = path_here();
        bool is_skipped = !levels_.empty() && levels_.back().is_skipped;
        auto const refuse = [&](std::string const& why) {
            if (!std::exchange(is_skipped, true)) note(path, why);
        };
        if (levels_.empty() && is_list) note({}, "a job must be an object, but this is a list");
        if (looks_like_element()) refuse(unknown(path));
        bool const is_known = path.empty() || is_list == (path == "schedules" || path == "excluded");
        if (!path.empty() && is_known && !is_list && !path.starts_with("schedules[")) {
            bool is_group = path == "jobProperties";
            for_each_written_field(config_, [&](std::string_view name, auto&) {
                is_group = is_group || (name.starts_with(path) && name.substr(path.size()).starts_with('.'));
            });
            if (!is_group) refuse(unknown(path));
        } else if (!is_known) {
            refuse(is_list ? "must not be a list" : "must be a list");
        } else if (is_list && !path.empty()) {
            void const* list = &config_.excluded;
            if (path == "schedules") list = &config_.schedules;
            if (!is_first(list)) refuse("occurs twice");
        }
        if (path.starts_with("schedules[")) {
            scheduled_ = {};
            kinds_ = 0;
            has_end_ = false;
        }
        levels_.push_back({std::move(path), is_list, is_skipped});
        return goes_on() &&
               (levels_.size() <= depth_max || note({}, "lists and objects must not be nested this deeply"));
    }

    bool close() {
        auto const [path, is_list, is_skipped, count] = std::move(levels_.back());
        levels_.pop_back();
        if (is_skipped || is_list || !path.starts_with("schedules[")) return goes_on();
        if (kinds_ != 1)
            note(path, "must have exactly one of cron, fixed_rate, fixed_delay, once_at, once_now and after_job");
        else if (has_end_ && scheduled_.is != job_schedule::kind::after_job)
            note(path, "must have an end only together with after_job");
        else
            config_.schedules.push_back(scheduled_);
        return goes_on();
    }

    bool take(json_value const& value) {
        auto const path = path_here();
        if (!levels_.empty() && levels_.back().is_skipped) return true;
        if (levels_.empty()) return note({}, "a job must be an object, but this is " + describe(value));
        if (looks_like_element()) return note(path, unknown(path));
        if (auto const* expected = assign_to(path, value))
            note(path, std::string{"must be "} + expected + ", but is " + describe(value));
        return goes_on();
    }

    /// The expected value; null if the value was accepted, or if the problem has been recorded.
    char const* assign_to(std::string const& path, json_value const& value) {
        if (path.starts_with("schedules[")) return assign_schedule(path.substr(path.find(']') + 1), path, value);
        if (path.starts_with("excluded[")) return read_value(config_.excluded.emplace_back(), value);
        if (path == "schedules" || path == "excluded") return "a list";
        bool is_known = false;
        char const* expected = nullptr;
        void const* member = nullptr;
        auto const read = [&](auto& into) {
            is_known = true;
            member = &into;
            expected = read_value(into, value);
        };
        for_each_written_field(config_, [&](std::string_view name, auto& into) {
            if (name == path) read(into);
        });
        for_each_config_field([&](auto const& field) {
            auto const name = (field.group.empty() ? "" : std::string{field.group} + ".") + std::string{field.name};
            if (!is_known && name == path) read(config_.*field.member);
        });
        if (!is_known) return note(path, unknown(path)), nullptr;
        if (!is_first(member)) return note(path, "occurs twice"), nullptr;
        return expected;
    }

    /// Whether this is the first occurrence of the member.
    bool is_first(void const* member) {
        if (std::find(members_.begin(), members_.end(), member) != members_.end()) return false;
        members_.push_back(member);
        return true;
    }

    /// Whether the key of the next value would be taken for the path of a list's element.
    bool looks_like_element() const {
        return !levels_.empty() && !levels_.back().is_list && key_.find('[') != key_.npos;
    }

    char const* assign_schedule(std::string const& name, std::string const& path, json_value const& value) {
        using kind = job_schedule::kind;
        auto const is = [&](std::string_view wanted, kind k) {
            if (name != wanted) return false;
            scheduled_.is = k;
            ++kinds_;
            return true;
        };
        if (is(".cron", kind::cron)) return read_value(scheduled_.expression, value);
        if (is(".fixed_rate", kind::fixed_rate)) return read_value(scheduled_.span, value);
        if (is(".fixed_delay", kind::fixed_delay)) return read_value(scheduled_.span, value);
        if (is(".once_at", kind::once_at)) return read_value(scheduled_.at, value);
        if (is(".after_job", kind::after_job)) return read_value(scheduled_.job, value);
        if (name == ".end") {
            has_end_ = true;
            return read_value(scheduled_.after, value);
        }
        bool is_now = false;
        if (is(".once_now", kind::once_now)) return read_value(is_now, value) || !is_now ? "true" : nullptr;
        note(path, name.empty()
                       ? "must be an object, as {\"cron\": \"@daily\"}"
                       : "is no schedule: there are cron, fixed_rate, fixed_delay, once_at, once_now and after_job");
        return nullptr;
    }

    std::string unknown(std::string const& path) {
        std::string nearest;
        auto least = std::min<std::size_t>(path.size() / 2, 8) + 1;
        for_each_written_field(config_, [&](std::string_view name, auto&) {
            if (path.size() > 100) return;
            if (auto const d = distance_between(path, name); d < least) {
                least = d;
                nearest = name;
            }
        });
        return "is no field of a job" + (nearest.empty() ? "" : ": did you mean " + nearest + "?");
    }

    /// Records a problem and returns nothing if a variable is missing.
    std::optional<std::string> expand(std::string_view text) {
        std::string out;
        for (std::size_t at = 0; at < text.size();) {
            auto const found = std::min(text.find("${", at), text.size());
            bool const is_escaped = found > at && found < text.size() && text[found - 1] == '$';
            out.append(text.substr(at, found - at));
            if (found == text.size()) break;
            at = found + 2;
            if (is_escaped) {
                out += '{'; // the text already has the `$` of `$${`
                continue;
            }
            auto const end = text.find('}', at);
            if (end == text.npos) return refuse_variable("has a `${` without its `}`: write `$${` for the text itself");
            auto const inside = text.substr(at, end - at);
            auto const other = inside.find(":-");
            std::string const name{inside.substr(0, other)};
            if (auto const value = name.empty() ? std::nullopt : find_(name))
                out += *value;
            else if (other != inside.npos)
                out += inside.substr(other + 2);
            else
                return refuse_variable("needs the environment variable " + in_quotes(name) +
                                       ", which is not set: set it, or write ${" + cut_short(name) + ":-default}");
            at = end + 1;
        }
        return out;
    }

    std::optional<std::string> refuse_variable(std::string const& why) {
        note(path_here(), why);
        return std::nullopt;
    }

    bool goes_on() const noexcept { return problems_.size() < problems_listed_max; }

    /// Records a problem. Returns false, because a problem with the whole file ends the parsing.
    bool note(std::string const& path, std::string const& why) {
        problems_.push_back({errc::malformed_data, (path.empty() ? "" : cut_short(path) + " ") + why,
                             "line " + std::to_string(text_.line())});
        return false;
    }

    json_text const& text_;
    variable_lookup find_;
    job_config config_{};
    std::vector<level> levels_{};
    std::string key_{};
    job_schedule scheduled_{};
    int kinds_ = 0;
    bool has_end_ = false;
    std::vector<void const*> members_{}; ///< the members set so far
    std::vector<error> problems_{};
};

/// Writes values in the forms that `read_value` reads.
struct config_file_writer {
    json_writer& out;

    void operator()(std::string_view name, std::string const& value) const { out.member(name, value); }
    void operator()(std::string_view name, std::integral auto value) const { out.member(name, value); }
    void operator()(std::string_view name, job_type value) const { out.member(name, name_of(value)); }
    void operator()(std::string_view name, gap_rule value) const { out.member(name, word(value, gap_names)); }
    void operator()(std::string_view name, overlap_rule value) const { out.member(name, word(value, overlap_names)); }
    void operator()(std::string_view name, std::chrono::milliseconds value) const {
        out.member(name, value.count() == 0 ? "0" : std::to_string(value.count()) + "ms");
    }
    void operator()(std::string_view name, wall_time value) const { out.member(name, format_instant(value)); }

    template <class Enum, std::size_t N>
    static std::string_view word(Enum value, std::array<std::string_view, N> const& names) {
        return names[static_cast<std::size_t>(value)];
    }
};

ELASTICJOB_DECL void write_schedule(json_writer& out, job_schedule const& s) {
    config_file_writer const write{out};
    using kind = job_schedule::kind;
    out.open();
    switch (s.is) {
    case kind::cron:
        write("cron", s.expression);
        break;
    case kind::fixed_rate:
        write("fixed_rate", s.span);
        break;
    case kind::fixed_delay:
        write("fixed_delay", s.span);
        break;
    case kind::once_at:
        write("once_at", s.at);
        break;
    case kind::once_now:
        write("once_now", true);
        break;
    case kind::after_job:
        write("after_job", s.job);
        out.member("end", write.word(s.after, round_end_names));
    }
    out.close();
}

} // namespace elasticjob::detail

namespace elasticjob {

ELASTICJOB_DECL std::string without_variables(std::string_view json) {
    std::string all;
    for (std::size_t begin = 0; begin < json.size();) {
        auto const end = std::min(json.find("${", begin), json.size());
        all.append(json.substr(begin, end - begin));
        if (end != json.size()) all += "$${";
        begin = end + 2;
    }
    return all;
}

ELASTICJOB_DECL std::string write_job_config(job_config const& config) {
    json_writer out;
    detail::config_file_writer const write{out};
    detail::for_each_stored_field(config, [&](std::string_view name, auto const& member) {
        if constexpr (std::is_same_v<decltype(member), wall_time const&>)
            if (member == wall_time::min() || member == wall_time::max()) return; // no limit
        if (name.find('.') == name.npos) write(name, member);
    });
    out.open("on_clock_change");
    auto const write_rule = [&](std::string_view name, civil_rule const& rule) {
        out.open(name);
        write("gap", rule.gap);
        write("overlap", rule.overlap);
        out.close();
    };
    write_rule("named_hours", config.on_clock_change.named_hours);
    write_rule("every_hour", config.on_clock_change.every_hour);
    out.close().open_list("schedules");
    for (auto const& s : config.schedules) detail::write_schedule(out, s);
    out.close().open_list("excluded");
    for (auto const& e : config.excluded) out.element(e);
    return out.close().finish();
}

ELASTICJOB_DECL std::optional<std::string> environment_variable(std::string const& name) {
    auto const* value = std::getenv(name.c_str());
    return value ? std::optional<std::string>{value} : std::nullopt;
}

ELASTICJOB_DECL result<job_config> parse_job_config(std::string_view json, variable_lookup find) {
    auto const malformed = [](std::string why, std::string where) {
        return error{errc::malformed_data, std::move(why), std::move(where)};
    };
    detail::json_text text{json};
    auto const line = [&](std::size_t offset) { return "line " + std::to_string(text.line_at(offset)); };
    if (auto const fault = text.find_fault(config_file_size_max); fault.why)
        return malformed(fault.why, line(fault.at));
    detail::config_file_listener listener{text, find};
    auto const parsed = text.read(listener);
    auto& problems = listener.problems();
    if (parsed.IsError() && parsed.Code() != rapidjson::kParseErrorTermination)
        problems.push_back(malformed(rapidjson::GetParseError_En(parsed.Code()), line(parsed.Offset())));
    if (problems.empty()) return std::move(listener.config());
    if (problems.size() == 1) return std::move(problems.front());
    std::string list = std::to_string(problems.size()) + " problems";
    for (char const* separator = ": "; auto const& e : problems) {
        list.append(separator).append(e.where).append(": ").append(e.what);
        separator = "; ";
    }
    return malformed(std::move(list), problems.front().where);
}

ELASTICJOB_DECL result<job_config> read_job_config(std::string const& file, variable_lookup find) {
    struct closer {
        void operator()(std::FILE* f) const noexcept { std::fclose(f); }
    };
    auto const cannot = [&] {
        return error{errc::invalid_argument, std::string{"the configuration cannot be read: "} + std::strerror(errno),
                     file};
    };
    std::unique_ptr<std::FILE, closer> const f{std::fopen(file.c_str(), "rbe")};
    if (!f) return cannot();
    std::string text;
    std::array<char, 4096> block;
    while (text.size() <= config_file_size_max) {
        auto const got = std::fread(block.data(), 1, block.size(), f.get());
        text.append(block.data(), got);
        if (std::ferror(f.get())) return cannot();
        if (got < block.size()) break;
    }
    auto config = parse_job_config(text, find);
    if (config) return config;
    auto e = std::move(config).error();
    e.where = file + (e.where.empty() ? "" : ", ") + e.where;
    return e;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CONFIG_CONFIG_FILE_IPP
