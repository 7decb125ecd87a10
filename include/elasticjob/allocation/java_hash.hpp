// SPDX-License-Identifier: Apache-2.0
/// \file \brief Java's hash of a string, on which two of ElasticJob's strategies depend.
#ifndef ELASTICJOB_ALLOCATION_JAVA_HASH_HPP
#define ELASTICJOB_ALLOCATION_JAVA_HASH_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace elasticjob {

namespace detail {

/// Takes one code point from the front of `rest`, which is not empty. Invalid UTF-8 becomes U+FFFD exactly as in Java's
/// `new String(bytes, UTF_8)`: one for the longest valid beginning of a sequence, one for a whole encoded surrogate.
constexpr char32_t take_code_point(std::string_view& rest) noexcept {
    constexpr char32_t replacement = 0xFFFD;
    unsigned const lead = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    if (lead < 0x80) return lead;
    if (lead < 0xC2 || lead > 0xF4) return replacement;

    // Some lead bytes restrict the byte after them, so that every code point has one encoding and none is beyond
    // U+10FFFF.
    unsigned const more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned high = lead == 0xF4 ? 0x8F : 0xBF;
    char32_t code_point = lead & (0x3Fu >> more);
    for (unsigned i = 0; i != more; ++i) {
        if (rest.empty()) return replacement;
        unsigned const next = static_cast<unsigned char>(rest.front());
        if (next < low || next > high) return replacement;
        rest.remove_prefix(1);
        code_point = code_point << 6 | (next & 0x3F);
        low = 0x80;
        high = 0xBF;
    }
    bool const is_surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
    return is_surrogate ? replacement : code_point;
}

} // namespace detail

/// `String.hashCode()`: h = 31 * h + c over the UTF-16 code units c, with wrap-around in 32 bits. A code point beyond
/// U+FFFF counts as the two units of its surrogate pair. O(length), constexpr, accepts any bytes.
constexpr std::int32_t java_string_hash(std::string_view utf8) noexcept {
    std::uint32_t hash = 0;
    auto const add_unit = [&](char32_t unit) { hash = 31 * hash + static_cast<std::uint32_t>(unit); };
    while (!utf8.empty()) {
        if (utf8.size() >= 4) {
            std::uint32_t const four[]{static_cast<unsigned char>(utf8[0]), static_cast<unsigned char>(utf8[1]),
                                       static_cast<unsigned char>(utf8[2]), static_cast<unsigned char>(utf8[3])};
            if ((four[0] | four[1] | four[2] | four[3]) < 0x80) { // One by one, each would wait for the product before it.
                hash = 31 * 31 * 31 * 31 * hash + 31 * 31 * 31 * four[0] + 31 * 31 * four[1] + 31 * four[2] + four[3];
                utf8.remove_prefix(4);
                continue;
            }
        }
        auto const code_point = detail::take_code_point(utf8);
        if (code_point < 0x10000) {
            add_unit(code_point);
        } else {
            add_unit(0xD800 + ((code_point - 0x10000) >> 10));
            add_unit(0xDC00 + ((code_point - 0x10000) & 0x3FF));
        }
    }
    return static_cast<std::int32_t>(hash);
}

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_JAVA_HASH_HPP
