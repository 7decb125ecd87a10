// SPDX-License-Identifier: Apache-2.0
/// \file \brief The text of a configuration in JSON, as input for RapidJSON.
#ifndef ELASTICJOB_CONFIG_JSON_TEXT_HPP
#define ELASTICJOB_CONFIG_JSON_TEXT_HPP

#include <elasticjob/core/decl.hpp>

#include <rapidjson/encodedstream.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <cstddef>
#include <string_view>

namespace elasticjob::detail {

/// Refers to the text, which must outlive it.
class json_text {
public:
    explicit json_text(std::string_view text) noexcept : text_{text} {}

    struct fault {
        char const* why; ///< null if there is no fault
        std::size_t at;  ///< the byte
    };

    /// The reason why `read` must not be called at all. O(size).
    fault find_fault(std::size_t size_max) const noexcept;

    /// Also accepts comments, a comma after the last member and a byte order mark, as Gson does. Passes numbers to the
    /// listener as they are written.
    template <class Listener>
    rapidjson::ParseResult read(Listener& listener) {
        constexpr unsigned flags = rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag |
                                   rapidjson::kParseCommentsFlag | rapidjson::kParseTrailingCommasFlag;
        return rapidjson::Reader{}.Parse<flags>(characters_, listener);
    }

    /// During `read`: the line of the last character that was read, from 1. O(size).
    std::size_t line() const { return line_at(characters_.Tell()); }
    std::size_t line_at(std::size_t offset) const;

private:
    std::string_view text_;
    rapidjson::MemoryStream bytes_{text_.data(), text_.size()};
    rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream> characters_{bytes_};
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/json_text.ipp>
#endif
#endif // ELASTICJOB_CONFIG_JSON_TEXT_HPP
