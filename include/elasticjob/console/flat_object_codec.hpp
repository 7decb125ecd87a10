// SPDX-License-Identifier: Apache-2.0
/// \file \brief The members of a JSON object that are no objects themselves, for documents of which little is needed.
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
    std::vector<std::string> texts{}; ///< one; of a list, those of its elements that are texts
};

class flat_object {
public:
    std::map<std::string, flat_member, std::less<>> members{};

    /// Empty if there is no such text.
    std::string text(std::string_view name) const;

    /// A number of seconds, without its fraction. Nothing if there is none, or one beyond the year 9999.
    std::optional<std::int64_t> seconds(std::string_view name) const;

    /// Whether it is `true`, as a truth or as a text.
    bool is_true(std::string_view name) const;

    /// The texts of a list, or the text if there is but one.
    std::vector<std::string> texts(std::string_view name) const;
};

/// Errors: malformed_data for what is no JSON object, is larger or deeper, or has a member twice. No error repeats the
/// text.
result<flat_object> read_flat_object(std::string_view json, std::size_t size_max);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/flat_object_codec.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_FLAT_OBJECT_CODEC_HPP
