// SPDX-License-Identifier: Apache-2.0
/// \file \brief Rows with named columns, as a table for people or as JSON for programs.
#ifndef ELASTICJOB_COMMAND_LINE_REPORT_HPP
#define ELASTICJOB_COMMAND_LINE_REPORT_HPP

#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/cron/zone_ref.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob::cli {

/// The appearance of a table for people.
struct table_style {
    zone_ref const* zone = nullptr;                   ///< null: UTC
    bool has_colour = false;                          ///< colours words that are good or bad, by escape sequences
    std::size_t columns_max = std::string_view::npos; ///< a longer line is cut; no limit in a pipe
};

/// One value of a row.
class cell {
public:
    cell(std::string text);                    // NOLINT: a row is a list of values
    cell(std::string_view text);               // NOLINT
    cell(char const* text);                    // NOLINT
    cell(bool value);                          // NOLINT
    cell(wall_time instant);                   // NOLINT
    cell(std::optional<wall_time> instant);    // NOLINT: nothing is null
    cell(std::vector<std::string> const& all); // NOLINT: a list of texts
    template <std::integral Number>
    cell(Number value) : json_{std::to_string(value)},
                         shown_{json_} {} // NOLINT

    /// The value on one line; `-` for nothing.
    std::string for_people(table_style const& style) const;
    std::string const& json() const noexcept { return json_; }

    friend bool operator==(cell const& a, cell const& b) { return a.json_ == b.json_; }

private:
    std::string json_;
    std::string shown_{};
    std::optional<wall_time> instant_{};
};

/// Rows with named columns. The first `keys` columns identify a row.
struct report {
    std::vector<std::string> columns;
    std::vector<std::vector<cell>> rows{};
    std::size_t keys = 1;
};

/// The number of terminal columns of a text, for the characters that this program prints.
std::size_t width_of(std::string_view text);

/// The text, cut to that many columns; `…` stands for the rest.
std::string cut_to(std::string_view text, std::size_t columns_max);

/// Such as `2026-01-01 01:00:01 +01:00`, or with ` UTC`.
std::string instant_text(wall_time t, zone_ref const* zone);

/// A line of headings in capitals and a line for each row, in columns. The last column is not padded.
std::string to_table(report const& r, table_style const& style = {});

/// As above, for a table that grows. The headings come with the first rows. `widths`, empty at first, keeps the widths
/// of the columns.
std::string to_table(report const& r, table_style const& style, std::vector<std::size_t>& widths);

/// One JSON document: an array with an object for each row, each on its line.
std::string to_json(report const& r);

/// An object for each row, one on each line.
std::string to_json_lines(report const& r);

/// The changes between two reports.
struct report_change {
    report fresh; ///< the rows that are new or have changed
    report gone;  ///< the keys of the rows that no longer exist
};
report_change compare(report const& before, report const& after);

} // namespace elasticjob::cli

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/command_line/report.ipp>
#endif
#endif // ELASTICJOB_COMMAND_LINE_REPORT_HPP
