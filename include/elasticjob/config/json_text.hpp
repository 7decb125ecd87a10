// SPDX-License-Identifier: Apache-2.0
/// \file \brief A configuration in JSON that a listener of RapidJSON is about to read.
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

/// The text must outlive this.
class json_text {
public:
    explicit json_text(std::string_view text) noexcept : text_{text} {}

    struct fault {
        char const* why; ///< null if there is none
        std::size_t at;  ///< the byte
    };

    /// Why the text must not be read at all. O(size).
    fault find_fault(std::size_t size_max) const noexcept;

    /// Accepts what Gson accepts beyond JSON: comments, a comma behind the last member, a byte order mark. Numbers come
    /// as they are written.
    template <class Listener>
    rapidjson::ParseResult read(Listener& listener) {
        constexpr unsigned flags = rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag |
                                   rapidjson::kParseCommentsFlag | rapidjson::kParseTrailingCommasFlag;
        return rapidjson::Reader{}.Parse<flags>(characters_, listener);
    }

    /// While it is read: the line of what has been read last, from 1 on. O(size).
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
