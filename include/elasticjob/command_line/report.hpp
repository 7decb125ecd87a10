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

/// How people see a table.
struct table_style {
    zone_ref const* zone = nullptr;                   ///< null: UTC
    bool has_colour = false;                          ///< escape sequences for words that are good or bad
    std::size_t columns_max = std::string_view::npos; ///< a longer line is cut; never in a pipe
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

    /// On one line; `-` for nothing.
    std::string for_people(table_style const& style) const;
    std::string const& json() const noexcept { return json_; }

    friend bool operator==(cell const& a, cell const& b) { return a.json_ == b.json_; }

private:
    std::string json_;
    std::string shown_{};
    std::optional<wall_time> instant_{};
};

/// Rows with named columns. The first `keys` columns tell the rows apart.
struct report {
    std::vector<std::string> columns;
    std::vector<std::vector<cell>> rows{};
    std::size_t keys = 1;
};

/// How many columns of a terminal a text takes: its characters, as far as this program prints any.
std::size_t width_of(std::string_view text);

/// The text, cut to that many columns; `…` stands for what is left out.
std::string cut_to(std::string_view text, std::size_t columns_max);

/// `2026-01-01 01:00:01 +01:00`, or with ` UTC`.
std::string instant_text(wall_time t, zone_ref const* zone);

/// A line of headings in capitals and a line for each row, in columns. Nothing follows the last column.
std::string to_table(report const& r, table_style const& style = {});

/// The same for a table that grows: the headings come with the first rows, and `widths`, empty at first, keeps the
/// columns.
std::string to_table(report const& r, table_style const& style, std::vector<std::size_t>& widths);

/// One JSON document: an array with an object for each row, each on its line.
std::string to_json(report const& r);

/// An object for each row, each on its line.
std::string to_json_lines(report const& r);

/// What has changed between two readings.
struct report_change {
    report fresh; ///< the rows that were not there before, or were otherwise
    report gone;  ///< the keys of the rows that are there no longer
};
report_change compare(report const& before, report const& after);

} // namespace elasticjob::cli

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/command_line/report.ipp>
#endif
#endif // ELASTICJOB_COMMAND_LINE_REPORT_HPP
