// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_JSON_CODEC_IPP
#define ELASTICJOB_IMPL_CONFIG_JSON_CODEC_IPP

#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/config/json_text.hpp>
#include <elasticjob/core/line_text.hpp>

namespace elasticjob {

ELASTICJOB_DECL std::string to_json(job_config const& config) {
    json_writer json;
    std::string_view group;
    for_each_config_field([&, canon = canonical(config)](auto const& field) {
        if (!field.applies_to(canon.type)) return;
        if (field.group != group) {
            if (!group.empty()) json.close();
            if (!field.group.empty()) json.open(field.group);
            group = field.group;
        }
        if constexpr (requires { name_of(canon.*field.member); })
            json.member(field.name, name_of(canon.*field.member));
        else
            json.member(field.name, canon.*field.member);
    });
    return json.finish();
}

} // namespace elasticjob

namespace elasticjob::detail {

ELASTICJOB_DECL std::string describe(json_value const& value) {
    constexpr std::string_view names[] = {"null",        "the boolean ", "the number ",
                                          "the string ", "an object",    "an array"};
    std::string what{names[static_cast<std::size_t>(value.is)]};
    return what.ends_with(' ') ? what + in_quotes(value.text) : what;
}

ELASTICJOB_DECL char const* assign(std::string& to, json_value const& value) {
    if (value.is != json_value::kind::string && value.is != json_value::kind::number) return "a string";
    to = value.text;
    return nullptr;
}

ELASTICJOB_DECL char const* assign(bool& to, json_value const& value) {
    if (value.is != json_value::kind::boolean) return "true or false";
    to = value.text == "true";
    return nullptr;
}

ELASTICJOB_DECL char const* assign(int& to, json_value const& value) {
    constexpr auto expected = "a whole number of 32 bits";
    if (value.is != json_value::kind::string && value.is != json_value::kind::number) return expected;
    // Java accepts 10.0 as the whole number 10, and accepts quotes around it.
    auto digits = value.text;
    if (auto const point = digits.find('.'); point != digits.npos && point + 1 < digits.size())
        if (digits.find_first_not_of('0', point + 1) == digits.npos) digits = digits.substr(0, point);
    return read_number(digits, to) ? nullptr : expected;
}

ELASTICJOB_DECL char const* assign(job_type& to, json_value const& value) {
    for (auto const type : {job_type::simple, job_type::dataflow, job_type::script}) {
        if (value.is != json_value::kind::string || value.text != name_of(type)) continue;
        to = type;
        return nullptr;
    }
    return "SIMPLE, DATAFLOW or SCRIPT";
}

ELASTICJOB_DECL bool config_listener::RawNumber(char const* text, rapidjson::SizeType length, bool) {
    return take({json_value::kind::number, {text, length}});
}

ELASTICJOB_DECL bool config_listener::String(char const* text, rapidjson::SizeType length, bool) {
    return take({json_value::kind::string, {text, length}});
}

ELASTICJOB_DECL bool config_listener::Key(char const* text, rapidjson::SizeType length, bool) {
    key_.assign(text, length);
    return true;
}

ELASTICJOB_DECL bool config_listener::StartObject() {
    if (depth_ == 1 && key_ == properties) {
        // If the group occurs several times, only the last one counts.
        config_.job_exception_handler = default_job_exception_handler;
        config_.executor_service_handler = default_executor_service_handler;
        in_properties_ = true;
    } else if (depth_ > 0 && !take({json_value::kind::object})) {
        return false;
    }
    return descend();
}

ELASTICJOB_DECL result<job_config> config_listener::finish() && {
    auto refuse = [](char const* why, auto member) {
        return error{errc::invalid_config, why, std::string{field_name(member)}};
    };
    if (config_.name.empty()) return refuse("jobName can not be empty.", &job_config::name);
    if (config_.cron.empty()) return refuse("cron can not be empty.", &job_config::cron);
    if (config_.sharding_total_count < 1)
        return refuse("shardingTotalCount should larger than zero.", &job_config::sharding_total_count);
    if (!has_type_) return refuse("jobType cannot be null.", &job_config::type);
    if (config_.type != job_type::script && config_.job_class.empty())
        return refuse("jobClass cannot be empty.", &job_config::job_class);
    return canonical(std::move(config_));
}

ELASTICJOB_DECL bool config_listener::take(json_value const& value) {
    if (depth_ == 0) return refuse("a configuration must be an object, but this is " + describe(value));
    if (!at_field()) return true;
    auto const group = in_properties_ ? properties : std::string_view{};
    char const* expected = group.empty() && key_ == properties ? "an object" : nullptr;
    for_each_config_field([&](auto const& field) {
        if (field.name != key_ || field.group != group) return;
        expected = assign(config_.*field.member, value);
        has_type_ = has_type_ || field.name == field_name(&job_config::type);
    });
    return !expected || refuse(key_ + " must be " + expected + ", but is " + describe(value));
}

ELASTICJOB_DECL bool config_listener::ascend() {
    if (--depth_ == 1) in_properties_ = false;
    return true;
}

ELASTICJOB_DECL bool config_listener::refuse(std::string why) {
    problem_ = std::move(why);
    return false;
}

inline result<job_config> read_config(std::string_view text, config_listener listener) {
    auto malformed = [](std::string why, std::size_t at) {
        return error{errc::malformed_data, std::move(why), "byte " + std::to_string(at)};
    };
    json_text json{text};
    if (auto const fault = json.find_fault(config_json_size_max); fault.why) return malformed(fault.why, fault.at);
    if (auto const parsed = json.read(listener); parsed.IsError())
        return malformed(listener.problem().empty() ? rapidjson::GetParseError_En(parsed.Code()) : listener.problem(),
                         parsed.Offset());
    return std::move(listener).finish();
}

} // namespace elasticjob::detail

namespace elasticjob {

ELASTICJOB_DECL result<std::optional<job_config>> from_json(std::string_view text) {
    if (text.empty()) return std::optional<job_config>{};
    ELASTICJOB_TRY(auto config, detail::read_config(text, detail::config_listener{}));
    return std::optional{std::move(config)};
}

ELASTICJOB_DECL result<job_config> with_json(job_config config, std::string_view text) {
    return detail::read_config(text, detail::config_listener{std::move(config)});
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CONFIG_JSON_CODEC_IPP
