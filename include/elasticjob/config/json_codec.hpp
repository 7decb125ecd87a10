// SPDX-License-Identifier: Apache-2.0
/// \file \brief A configuration as the text that the members of a job share in the registry.
#ifndef ELASTICJOB_CONFIG_JSON_CODEC_HPP
#define ELASTICJOB_CONFIG_JSON_CODEC_HPP

#include <elasticjob/config/fields.hpp>
#include <elasticjob/config/job_config.hpp>
#include <elasticjob/config/json_writer.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <rapidjson/reader.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob {

/// The maximum length of the text that `from_json` accepts, because no node of a registry holds more.
inline constexpr std::size_t config_json_size_max = std::size_t{1} << 20;

/// The configuration as Java writes it, byte for byte, so that all members can compare nodes. Texts should be UTF-8, as
/// they are in a valid configuration; other bytes are written unchanged. O(size).
std::string to_json(job_config const& config);

namespace detail {

/// A value in the JSON.
struct json_value {
    enum class kind { null, boolean, number, string, object, array };
    kind is;
    std::string_view text{}; ///< of a boolean, number or string
};

std::string describe(json_value const& value);

// Each `assign` accepts the same values as Java. For other values it returns a description of the expected value.

char const* assign(std::string& to, json_value const& value);

char const* assign(bool& to, json_value const& value);

char const* assign(int& to, json_value const& value);

char const* assign(job_type& to, json_value const& value);

/// Receives the events of RapidJSON and fills in a configuration. Returns false to refuse an event; `problem()` then
/// has the reason.
class config_listener : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, config_listener> {
public:
    config_listener() = default;

    /// Begins with this configuration: a field that is missing in the JSON keeps its value.
    explicit config_listener(job_config base) : config_{std::move(base)}, has_type_{true} {}

    bool Null() { return take({json_value::kind::null}); }
    bool Bool(bool value) { return take({json_value::kind::boolean, value ? "true" : "false"}); }
    bool RawNumber(char const* text, rapidjson::SizeType length, bool);
    bool String(char const* text, rapidjson::SizeType length, bool);
    bool Key(char const* text, rapidjson::SizeType length, bool);
    bool StartObject();
    bool EndObject(rapidjson::SizeType) { return ascend(); }
    bool StartArray() { return take({json_value::kind::array}) && descend(); }
    bool EndArray(rapidjson::SizeType) { return ascend(); }

    std::string const& problem() const noexcept { return problem_; }

    /// The configuration, if it has all fields that Java requires. Checks them in Java's order.
    result<job_config> finish() &&;

private:
    static constexpr std::string_view properties = "jobProperties";
    static constexpr int depth_max = 32;

    /// Whether the next event belongs to a field, not to a value that is being skipped.
    bool at_field() const noexcept { return depth_ == (in_properties_ ? 2 : 1); }

    bool take(json_value const& value);

    bool descend() { return ++depth_ <= depth_max || refuse("objects and arrays must not be nested this deeply"); }

    bool ascend();

    bool refuse(std::string why);

    // For most fields, Java's default for a missing field is that of a new configuration. The exceptions follow Java's
    // reader, because the members of a shared job must agree: a missing misfire is off.
    job_config config_{.sharding_total_count = 0, .misfire = false, .job_class = {}};
    bool has_type_ = false;
    std::string key_;
    int depth_ = 0;
    bool in_properties_ = false;
    std::string problem_;
};

} // namespace detail

/// Parses the JSON that `to_json`, a Java member or the Java console writes, with the fields in any order. If a field
/// occurs twice, the last value counts. Unknown fields are skipped. An empty text means that there is no configuration,
/// and is not an error. The result is canonical, but not validated: see `validate`. O(size).
///
/// | missing                                | is                                                              |
/// |----------------------------------------|-----------------------------------------------------------------|
/// | jobName, cron, shardingTotalCount      | an error                                                        |
/// | jobType; jobClass unless it is SCRIPT  | an error                                                        |
/// | misfire                                | false, as in Java's reader, though a new configuration has true |
/// | anything else                          | the default of `job_config`                                     |
///
/// As in Gson, comments, a comma after the last member, a byte order mark, numbers for strings and whole numbers in
/// quotes are accepted. Unlike in Gson, these are errors: names without quotes, single quotes, `;` and `=` as
/// separators, `TRUE`, line breaks within strings, half a surrogate pair, whole numbers with an exponent, and bytes
/// that are not UTF-8.
///
/// Errors: malformed_data, which names the byte; invalid_config if a field is missing, which names the field.
result<std::optional<job_config>> from_json(std::string_view text);

/// Replaces the fields that the JSON contains; the other fields keep their values. Errors: as for `from_json`, if a
/// field is missing in both; malformed_data also for an empty text.
result<job_config> with_json(job_config config, std::string_view text);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/json_codec.ipp>
#endif
#endif // ELASTICJOB_CONFIG_JSON_CODEC_HPP
