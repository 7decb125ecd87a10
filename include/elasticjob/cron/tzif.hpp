// SPDX-License-Identifier: Apache-2.0
/// \file \brief Reads the files of the time zone database (RFC 8536).
#ifndef ELASTICJOB_CRON_TZIF_HPP
#define ELASTICJOB_CRON_TZIF_HPP

#include <elasticjob/core/algorithm.hpp> // min
#include <elasticjob/core/decl.hpp>
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

/// The clock has this offset from this instant on.
struct tzif_turn {
    std::int64_t time;   ///< seconds since 1970, UTC
    std::int32_t offset; ///< seconds to add to UTC
};

/// The clock changes in order, and the rule after the last of them.
struct tzif_data {
    using rule_type = posix_zone;

    std::int32_t first_offset{};
    std::vector<tzif_turn> turns{};
    std::optional<posix_zone> rule{};
};

/// Reads a number of the file: big-endian, two's complement.
std::int64_t read_big_endian(std::string_view bytes) noexcept;

/// The six counts of a header, and the sizes that follow from them.
struct tzif_header {
    static constexpr std::size_t size = 44;

    std::size_t utc_marks, standard_marks, leap_seconds, turns, types, name_bytes;

    /// Precondition: `bytes` has at least `size` bytes.
    explicit tzif_header(std::string_view bytes) noexcept;

    std::size_t block_size(std::size_t time_size) const noexcept;

    static constexpr std::size_t type_size = 6;
};

/// Checks all sizes and numbers, because the file may be damaged. Errors: malformed_data.
result<tzif_data> parse_tzif(std::string_view bytes);

/// The content of a file of the database. Errors: invalid_argument if it cannot be read or is far too large.
result<std::string> read_tzif_file(std::string const& path);

/// Reads and parses a file. Errors: those of both; they name the file.
result<tzif_data> load_tzif(std::string const& path);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/cron/tzif.ipp>
#endif
#endif // ELASTICJOB_CRON_TZIF_HPP
