// SPDX-License-Identifier: Apache-2.0
/// \file \brief Reads the files of the time zone database (RFC 8536).
#ifndef ELASTICJOB_CRON_TZIF_HPP
#define ELASTICJOB_CRON_TZIF_HPP

#include <elasticjob/core/algorithm.hpp> // min
#include <elasticjob/core/result.hpp>
#include <elasticjob/cron/posix_zone.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob::detail {

/// From this instant on, the clock has this offset.
struct tzif_turn {
    std::int64_t time;   ///< seconds since 1970, UTC
    std::int32_t offset; ///< seconds to add to UTC
};

/// The turns in order, and what goes on after the last of them.
template <class Turn = tzif_turn, class Rule = posix_zone>
struct basic_tzif_data {
    using rule_type = Rule;

    std::int32_t first_offset{};
    std::vector<Turn> turns{};
    std::optional<Rule> rule{};
};

/// A template only so that including it costs nothing: see docs/decisions/0006.
using tzif_data = basic_tzif_data<>;

/// The file's numbers are big-endian and of two's complement.
inline std::int64_t read_big_endian(std::string_view bytes) noexcept {
    std::uint64_t number = (bytes.front() & 0x80) ? ~std::uint64_t{0} : 0;
    for (char const c : bytes) number = number << 8 | static_cast<unsigned char>(c);
    return static_cast<std::int64_t>(number);
}

/// The six counts of a header, and the sizes that follow from them.
struct tzif_header {
    static constexpr std::size_t size = 44;

    std::size_t utc_marks, standard_marks, leap_seconds, turns, types, name_bytes;

    /// Precondition: `bytes` has at least `size` of them.
    explicit tzif_header(std::string_view bytes) noexcept {
        std::size_t at = 20;
        for (auto* const count : {&utc_marks, &standard_marks, &leap_seconds, &turns, &types, &name_bytes}) {
            *count = static_cast<std::uint32_t>(read_big_endian(bytes.substr(at, 4)));
            at += 4;
        }
    }

    std::size_t block_size(std::size_t time_size) const noexcept {
        return turns * (time_size + 1) + types * type_size + name_bytes + leap_seconds * (time_size + 4) +
               standard_marks + utc_marks;
    }

    static constexpr std::size_t type_size = 6;
};

/// Errors: malformed_data; nothing in the bytes is trusted.
template <class Data = tzif_data>
result<Data> parse_tzif(std::string_view bytes) {
    auto const refuse = [](char const* why) { return error{errc::malformed_data, why}; };
    auto const has_header = [&] { return bytes.size() >= tzif_header::size && bytes.substr(0, 4) == "TZif"; };
    if (!has_header()) return refuse("this is no TZif file");
    tzif_header header{bytes};
    std::size_t time_size = 4;
    if (bytes[4] >= '2') { // everything comes twice: first with times of 32 bits, for old readers
        bytes.remove_prefix(std::min(bytes.size(), tzif_header::size + header.block_size(time_size)));
        if (!has_header()) return refuse("the second half of the TZif file is missing");
        header = tzif_header{bytes};
        time_size = 8;
    }
    bytes.remove_prefix(tzif_header::size);
    if (bytes.size() < header.block_size(time_size)) return refuse("the TZif file is cut off");
    if (header.types == 0) return refuse("the TZif file has no offsets");
    if (header.leap_seconds) return refuse("time zones with leap seconds are not supported");

    auto const indices = bytes.substr(header.turns * time_size);
    auto const types = indices.substr(header.turns);
    auto const offset_of = [&](std::size_t type) {
        return static_cast<std::int32_t>(read_big_endian(types.substr(type * tzif_header::type_size, 4)));
    };
    for (std::size_t type = 0; type < header.types; ++type)
        if (auto const offset = offset_of(type); offset <= -26 * 3600 || offset >= 26 * 3600)
            return refuse("the TZif file has an offset of more than 26 hours");

    Data data{offset_of(0)};
    data.turns.reserve(header.turns);
    for (std::size_t i = 0; i < header.turns; ++i) {
        auto const time = read_big_endian(bytes.substr(i * time_size, time_size));
        auto const type = static_cast<unsigned char>(indices[i]);
        if (type >= header.types || (i > 0 && time <= data.turns.back().time))
            return refuse("the TZif file is out of order");
        data.turns.push_back({time, offset_of(type)});
    }

    bytes.remove_prefix(header.block_size(time_size));
    if (time_size == 8 && bytes.size() > 2) { // a line between two line feeds
        data.rule = posix_zone_parser{bytes.substr(1, bytes.find('\n', 1) - 1)}.parse<typename Data::rule_type>();
        if (!data.rule) return refuse("the rule at the end of the TZif file cannot be read");
    }
    return data;
}

/// The bytes of a file of the database. Errors: invalid_argument when it cannot be read or is far too large for one.
template <class Bytes = std::string>
result<Bytes> read_tzif_file(std::string const& path) {
    constexpr std::size_t size_max = 1 << 18;
    Bytes bytes(size_max, '\0');
    bool is_read = false;
    if (std::FILE* const file = std::fopen(path.c_str(), "rb")) {
        bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
        is_read = !std::ferror(file) && bytes.size() < size_max;
        std::fclose(file);
    }
    if (!is_read) return error{errc::invalid_argument, "there is no time zone in this file", path};
    return bytes;
}

/// Errors: those of the two; they name the file.
template <class Data = tzif_data, class Bytes = std::string>
result<Data> load_tzif(std::string const& path) {
    ELASTICJOB_TRY(auto const bytes, read_tzif_file<Bytes>(path));
    auto data = parse_tzif<Data>(bytes);
    if (!data) return error{data.error().code, data.error().what, path};
    return data;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_CRON_TZIF_HPP
