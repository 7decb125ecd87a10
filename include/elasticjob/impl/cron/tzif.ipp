// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CRON_TZIF_IPP
#define ELASTICJOB_IMPL_CRON_TZIF_IPP

#include <elasticjob/cron/tzif.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL std::int64_t read_big_endian(std::string_view bytes) noexcept {
    std::uint64_t number = (bytes.front() & 0x80) ? ~std::uint64_t{0} : 0;
    for (char const c : bytes) number = number << 8 | static_cast<unsigned char>(c);
    return static_cast<std::int64_t>(number);
}

ELASTICJOB_DECL tzif_header::tzif_header(std::string_view bytes) noexcept {
    std::size_t at = 20;
    for (auto* const count : {&utc_marks, &standard_marks, &leap_seconds, &turns, &types, &name_bytes}) {
        *count = static_cast<std::uint32_t>(read_big_endian(bytes.substr(at, 4)));
        at += 4;
    }
}

ELASTICJOB_DECL std::size_t tzif_header::block_size(std::size_t time_size) const noexcept {
    return turns * (time_size + 1) + types * type_size + name_bytes + leap_seconds * (time_size + 4) + standard_marks +
           utc_marks;
}

ELASTICJOB_DECL result<tzif_data> parse_tzif(std::string_view bytes) {
    auto const refuse = [](char const* why) { return error{errc::malformed_data, why}; };
    auto const has_header = [&] { return bytes.size() >= tzif_header::size && bytes.substr(0, 4) == "TZif"; };
    if (!has_header()) return refuse("this is no TZif file");
    tzif_header header{bytes};
    std::size_t time_size = 4;
    if (bytes[4] >= '2') { // the content occurs twice: first with 32-bit times, for old readers
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

    tzif_data data{offset_of(0)};
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
        data.rule = posix_zone_parser{bytes.substr(1, bytes.find('\n', 1) - 1)}.parse();
        if (!data.rule) return refuse("the rule at the end of the TZif file cannot be read");
    }
    return data;
}

ELASTICJOB_DECL result<std::string> read_tzif_file(std::string const& path) {
    constexpr std::size_t size_max = 1 << 18;
    std::string bytes(size_max, '\0');
    bool is_read = false;
    if (std::FILE* const file = std::fopen(path.c_str(), "rb")) {
        bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
        is_read = !std::ferror(file) && bytes.size() < size_max;
        std::fclose(file);
    }
    if (!is_read) return error{errc::invalid_argument, "there is no time zone in this file", path};
    return bytes;
}

ELASTICJOB_DECL result<tzif_data> load_tzif(std::string const& path) {
    ELASTICJOB_TRY(auto const bytes, read_tzif_file(path));
    auto data = parse_tzif(bytes);
    if (!data) return error{data.error().code, data.error().what, path};
    return data;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CRON_TZIF_IPP
