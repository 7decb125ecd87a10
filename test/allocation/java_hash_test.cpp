// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/allocation/java_hash.hpp>

#include <cstdint>
#include <limits>

using elasticjob::java_string_hash;

static_assert(java_string_hash("") == 0);
static_assert(java_string_hash("a") == 97);
static_assert(java_string_hash("job") == 105405);
static_assert(java_string_hash("test_job") == -1146456432);
static_assert(java_string_hash("javaSimpleJob") == -694093655);
static_assert(java_string_hash("simpleElasticDemoJob") == -1134931817);
static_assert(java_string_hash("demoSimpleJob") == 2119126536);
static_assert(java_string_hash("scriptElasticDemoJob") == 1454575600);
static_assert(java_string_hash("benchJob") == 1684087661);
static_assert(java_string_hash("任务") == 647942);
static_assert(java_string_hash("😀") == 1772899); // U+1F600 is D83D DE00 in UTF-16.

constexpr auto smallest = std::numeric_limits<std::int32_t>::min();
static_assert(java_string_hash("polygenelubricants") == smallest);
static_assert(java_string_hash("GydZG_") == smallest);
static_assert(java_string_hash("DESIGNING WORKHOUSES") == smallest);

// The edges of UTF-8. One code point below U+10000 is its own hash.
static_assert(java_string_hash("\x7F") == 0x7F);
static_assert(java_string_hash("\xC2\x80") == 0x80 && java_string_hash("\xDF\xBF") == 0x7FF);
static_assert(java_string_hash("\xE0\xA0\x80") == 0x800 && java_string_hash("\xEF\xBF\xBF") == 0xFFFF);
static_assert(java_string_hash("\xF0\x90\x80\x80") == 31 * 0xD800 + 0xDC00);
static_assert(java_string_hash("\xF4\x8F\xBF\xBF") == 31 * 0xDBFF + 0xDFFF);

// Invalid UTF-8 is replaced as by `new String(bytes, UTF_8)` of Java 17, which gave these results.
constexpr std::int32_t replaced = 0xFFFD;
constexpr std::int32_t replaced_twice = 31 * replaced + replaced;
static_assert(java_string_hash("\x80") == replaced);           // a continuation byte without a lead byte
static_assert(java_string_hash("\xC0\x80") == replaced_twice); // an encoding that is too long
static_assert(java_string_hash("\xE4\xBB") == replaced);       // cut off
static_assert(java_string_hash("\xE4\xBB"
                               "a") == 31 * replaced + 'a');   // cut off by the next character
static_assert(java_string_hash("\xED\xA0\x80") == replaced);   // an encoded surrogate
static_assert(java_string_hash("\xED\xA0") == replaced);       // half of one
static_assert(java_string_hash("\xF0\x9F\x98") == replaced);   // cut off
static_assert(java_string_hash("\xF0\x80") == replaced_twice); // too long again
static_assert(java_string_hash("\xF4\x90") == replaced_twice); // beyond U+10FFFF
static_assert(java_string_hash("\xF5\x80") == replaced_twice); // far beyond
