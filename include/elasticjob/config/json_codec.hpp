// SPDX-License-Identifier: Apache-2.0
/// \file \brief A configuration as the text that the members of a job share in the registry.
#ifndef ELASTICJOB_CONFIG_JSON_CODEC_HPP
#define ELASTICJOB_CONFIG_JSON_CODEC_HPP

#include <elasticjob/config/fields.hpp>
#include <elasticjob/config/job_config.hpp>
#include <elasticjob/config/json_writer.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/result.hpp>

#include <rapidjson/encodedstream.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob {

/// The longest text that `from_json` looks at: no node of a registry holds more.
inline constexpr std::size_t config_json_size_max = std::size_t{1} << 20;

/// The configuration in the words of Java's writer, byte for byte, so that members of either kind can compare nodes.
/// Texts should be UTF-8, as those of a valid configuration are; others are written as they are. O(size).
template <job_configuration Config = job_config>
std::string to_json(Config const& config) {
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

namespace detail {

/// What stands where a value may stand.
struct json_value {
    enum class kind { null, boolean, number, string, object, array };
    kind is;
    std::string_view text{}; ///< of a boolean, number or string
};

inline std::string describe(json_value const& value) {
    constexpr std::string_view names[] = {"null",        "the boolean ", "the number ",
                                          "the string ", "an object",    "an array"};
    std::string what{names[static_cast<std::size_t>(value.is)]};
    return what.ends_with(' ') ? what + in_quotes(value.text) : what;
}

// Each `assign` takes a value over where Java would; otherwise it returns what should have been there.

inline char const* assign(std::string& to, json_value const& value) {
    if (value.is != json_value::kind::string && value.is != json_value::kind::number) return "a string";
    to = value.text;
    return nullptr;
}

inline char const* assign(bool& to, json_value const& value) {
    if (value.is != json_value::kind::boolean) return "true or false";
    to = value.text == "true";
    return nullptr;
}

inline char const* assign(int& to, json_value const& value) {
    constexpr auto expected = "a whole number of 32 bits";
    if (value.is != json_value::kind::string && value.is != json_value::kind::number) return expected;
    // Java takes 10.0 for the whole number that it is, and does not mind quotes around it.
    auto digits = value.text;
    if (auto const point = digits.find('.'); point != digits.npos && point + 1 < digits.size())
        if (digits.find_first_not_of('0', point + 1) == digits.npos) digits = digits.substr(0, point);
    return read_number(digits, to) ? nullptr : expected;
}

inline char const* assign(job_type& to, json_value const& value) {
    for (auto const type : {job_type::simple, job_type::dataflow, job_type::script}) {
        if (value.is != json_value::kind::string || value.text != name_of(type)) continue;
        to = type;
        return nullptr;
    }
    return "SIMPLE, DATAFLOW or SCRIPT";
}

/// Listens to RapidJSON and fills in a configuration. It refuses an event by returning false and says why in
/// `problem()`.
template <job_configuration Config>
class config_listener : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, config_listener<Config>> {
public:
    bool Null() { return take({json_value::kind::null}); }
    bool Bool(bool value) { return take({json_value::kind::boolean, value ? "true" : "false"}); }
    bool RawNumber(char const* text, rapidjson::SizeType length, bool) {
        return take({json_value::kind::number, {text, length}});
    }
    bool String(char const* text, rapidjson::SizeType length, bool) {
        return take({json_value::kind::string, {text, length}});
    }
    bool Key(char const* text, rapidjson::SizeType length, bool) {
        key_.assign(text, length);
        return true;
    }
    bool StartObject() {
        if (depth_ == 1 && key_ == properties) {
            // Of several, the last one counts, and the others not at all.
            config_.job_exception_handler = default_job_exception_handler;
            config_.executor_service_handler = default_executor_service_handler;
            in_properties_ = true;
        } else if (depth_ > 0 && !take({json_value::kind::object})) {
            return false;
        }
        return descend();
    }
    bool EndObject(rapidjson::SizeType) { return ascend(); }
    bool StartArray() { return take({json_value::kind::array}) && descend(); }
    bool EndArray(rapidjson::SizeType) { return ascend(); }

    std::string const& problem() const noexcept { return problem_; }

    /// The configuration, if nothing is missing that Java does not do without. Asks in the order in which Java asks.
    result<Config> finish() && {
        auto refuse = [](char const* why, auto member) {
            return error{errc::invalid_config, why, std::string{field_name(member)}};
        };
        if (config_.name.empty()) return refuse("jobName can not be empty.", &Config::name);
        if (config_.cron.empty()) return refuse("cron can not be empty.", &Config::cron);
        if (config_.sharding_total_count < 1)
            return refuse("shardingTotalCount should larger than zero.", &Config::sharding_total_count);
        if (!has_type_) return refuse("jobType cannot be null.", &Config::type);
        if (config_.type != job_type::script && config_.job_class.empty())
            return refuse("jobClass cannot be empty.", &Config::job_class);
        return canonical(std::move(config_));
    }

private:
    static constexpr std::string_view properties = "jobProperties";
    static constexpr int depth_max = 32;

    /// Whether what comes next is a field, and not some part of a value that is being skipped.
    bool at_field() const noexcept { return depth_ == (in_properties_ ? 2 : 1); }

    bool take(json_value const& value) {
        if (depth_ == 0) return refuse("a configuration must be an object, but this is " + describe(value));
        if (!at_field()) return true;
        auto const group = in_properties_ ? properties : std::string_view{};
        char const* expected = group.empty() && key_ == properties ? "an object" : nullptr;
        for_each_config_field([&](auto const& field) {
            if (field.name != key_ || field.group != group) return;
            expected = assign(config_.*field.member, value);
            has_type_ = has_type_ || field.name == field_name(&Config::type);
        });
        return !expected || refuse(key_ + " must be " + expected + ", but is " + describe(value));
    }

    bool descend() { return ++depth_ <= depth_max || refuse("objects and arrays must not be nested this deeply"); }

    bool ascend() {
        if (--depth_ == 1) in_properties_ = false;
        return true;
    }

    bool refuse(std::string why) {
        problem_ = std::move(why);
        return false;
    }

    // What a missing field means to Java is mostly what it means to a new configuration. Where it is not, the members
    // of a job that Java members share must agree, so Java's reader decides: a missing misfire is off.
    Config config_{.sharding_total_count = 0, .misfire = false, .job_class = {}};
    bool has_type_ = false;
    std::string key_;
    int depth_ = 0;
    bool in_properties_ = false;
    std::string problem_;
};

} // namespace detail

/// Reads what `to_json`, a Java member or the Java console wrote, in any order of fields; of a field that comes twice
/// the last one counts, fields that we do not know are skipped. Nothing at all is no configuration, which is no error.
/// The configuration that comes out is canonical, but not valid yet: see `validate`. O(size).
///
/// | missing                                | is                                                              |
/// |----------------------------------------|-----------------------------------------------------------------|
/// | jobName, cron, shardingTotalCount      | an error                                                        |
/// | jobType; jobClass unless it is SCRIPT  | an error                                                        |
/// | misfire                                | false, as in Java's reader, though a new configuration has true |
/// | anything else                          | the default of `job_config`                                     |
///
/// As with Gson, comments, a comma behind the last member, a byte order mark, numbers for strings and whole numbers in
/// quotes are accepted. Not accepted, though Gson would: names without quotes, single quotes, `;` and `=` as
/// separators, `TRUE`, line breaks within strings, half a surrogate pair, whole numbers with an exponent, and bytes
/// that are not UTF-8.
///
/// Errors: malformed_data, at which byte; invalid_config, if something is missing, in which field.
template <job_configuration Config = job_config>
result<std::optional<Config>> from_json(std::string_view text) {
    auto malformed = [](std::string why, std::size_t at) {
        return error{errc::malformed_data, std::move(why), "byte " + std::to_string(at)};
    };
    if (text.empty()) return std::optional<Config>{};
    if (text.size() > config_json_size_max)
        return malformed("a configuration must be at most 1 MiB long", config_json_size_max);
    // RapidJSON would take it for the end of the text.
    if (auto const at = text.find('\0'); at != text.npos) return malformed("a configuration must not contain NUL", at);

    rapidjson::MemoryStream bytes{text.data(), text.size()};
    rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream> characters{bytes};
    detail::config_listener<Config> listener;
    constexpr unsigned flags = rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag |
                               rapidjson::kParseCommentsFlag | rapidjson::kParseTrailingCommasFlag;
    if (auto const parsed = rapidjson::Reader{}.Parse<flags>(characters, listener); parsed.IsError())
        return malformed(listener.problem().empty() ? rapidjson::GetParseError_En(parsed.Code()) : listener.problem(),
                         parsed.Offset());
    ELASTICJOB_TRY(auto config, std::move(listener).finish());
    return std::optional{std::move(config)};
}

} // namespace elasticjob
#endif // ELASTICJOB_CONFIG_JSON_CODEC_HPP
