// SPDX-License-Identifier: Apache-2.0
/// \file \brief The members of a JSON object except objects, for documents of which only little is needed.
#ifndef ELASTICJOB_CONSOLE_FLAT_OBJECT_CODEC_HPP
#define ELASTICJOB_CONSOLE_FLAT_OBJECT_CODEC_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob::detail {

struct flat_member {
    enum class kind : std::uint8_t { other, text, number, truth, list };
    kind is = kind::other;
    std::vector<std::string> texts{}; ///< one text; of a list, those elements that are texts
};

class flat_object {
public:
    std::map<std::string, flat_member, std::less<>> members{};

    /// The member as a text; empty if it is no text.
    std::string text(std::string_view name) const;

    /// The member as a number of seconds, without its fraction. Nothing if it is no number, or if it is beyond the year
    /// 9999.
    std::optional<std::int64_t> seconds(std::string_view name) const;

    /// Whether the member is `true`, as a boolean or as a text.
    bool is_true(std::string_view name) const;

    /// The texts of a list; a single text counts as a list.
    std::vector<std::string> texts(std::string_view name) const;
};

/// Errors: malformed_data if the text is no JSON object, is too large or too deep, or has a member twice. No error
/// repeats the text.
result<flat_object> read_flat_object(std::string_view json, std::size_t size_max);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/flat_object_codec.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_FLAT_OBJECT_CODEC_HPP
