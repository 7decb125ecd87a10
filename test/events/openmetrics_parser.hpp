// SPDX-License-Identifier: Apache-2.0
/// \file \brief A strict reader of OpenMetrics' text format, written after its grammar and rules.
#ifndef ELASTICJOB_TEST_EVENTS_OPENMETRICS_PARSER_HPP
#define ELASTICJOB_TEST_EVENTS_OPENMETRICS_PARSER_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/line_text.hpp>

#include <cctype>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob::test {

struct exposition {
    std::map<std::string, double> samples{}; ///< by `name{a="b"}`, as read, escapes undone
    std::map<std::string, std::string> types{};

    double at(std::string const& name) const {
        auto const found = samples.find(name);
        return found == samples.end() ? -1 : found->second;
    }

    /// Throws std::runtime_error, with the line, at the first violation of the format.
    static exposition parse(std::string_view text) {
        exposition e;
        if (!text.ends_with("# EOF\n")) throw std::runtime_error{"does not end with # EOF"};
        text.remove_suffix(6);
        for (std::string_view rest = text; !rest.empty();) {
            auto const n = detail::utf8_length(rest);
            if (n == 0) throw std::runtime_error{"not UTF-8"};
            rest.remove_prefix(n);
        }
        reader r{e};
        while (!text.empty()) {
            auto const end = text.find('\n');
            if (end == text.npos) throw std::runtime_error{"the last line does not end"};
            std::string_view const line = text.substr(0, end);
            try {
                r.read(line);
            } catch (std::runtime_error const& why) {
                throw std::runtime_error{std::string{line} + ": " + why.what()};
            }
            text.remove_prefix(end + 1);
        }
        r.end_group();
        return e;
    }

private:
    struct reader {
        exposition& e;
        std::string family{}, type{}, unit{};
        bool has_help = false, has_samples = false;
        // Of the current histogram, by its labels without le.
        struct buckets {
            double last_bound = -1, last_count = 0, infinite = -1, count = -1;
            bool has_sum = false;
        };
        std::map<std::string, buckets> histograms{};

        [[noreturn]] static void refuse(char const* why) { throw std::runtime_error{why}; }

        static std::string take_name(std::string_view& text, bool colons) {
            std::size_t n = 0;
            auto const is_letter = [&](char c) {
                return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || (colons && c == ':');
            };
            while (n < text.size() &&
                   (is_letter(text[n]) || (n > 0 && std::isdigit(static_cast<unsigned char>(text[n])))))
                ++n;
            if (n == 0) refuse("no name");
            std::string name{text.substr(0, n)};
            text.remove_prefix(n);
            return name;
        }
        static void take(std::string_view& text, std::string_view what) {
            if (!text.starts_with(what)) refuse("something else is expected");
            text.remove_prefix(what.size());
        }
        static std::string take_escaped(std::string_view& text, char end) {
            std::string value;
            for (;; text.remove_prefix(1)) {
                if (text.empty()) {
                    if (end) refuse("no end of a text");
                    return value;
                }
                if (end && text[0] == end) break;
                if (text[0] == '\\') {
                    text.remove_prefix(1);
                    if (text.empty() || std::string_view{"\\\"n"}.find(text[0]) == std::string_view::npos)
                        refuse("no such escape");
                    value += text[0] == 'n' ? '\n' : text[0];
                } else if (text[0] == '"') {
                    refuse("a quote that is not escaped");
                } else {
                    value += text[0];
                }
            }
            text.remove_prefix(1);
            return value;
        }

        void end_group() {
            for (auto const& [labels, h] : histograms) {
                if (h.infinite < 0) refuse("a histogram without +Inf");
                if (h.count != h.infinite) refuse("_count is not the +Inf bucket");
                if (!h.has_sum) refuse("a histogram without _sum");
            }
            histograms.clear();
        }
        void read(std::string_view line) {
            if (line.empty()) refuse("an empty line");
            if (line.starts_with("#")) return read_metadata(line);
            auto name = take_name(line, true);
            if (family.empty() || !name.starts_with(family)) refuse("a sample outside of its family");
            auto const suffix = name.substr(family.size());
            std::string others, le;
            std::set<std::string> seen;
            std::string labels;
            if (line.starts_with("{")) {
                take(line, "{");
                for (bool first = true; !line.starts_with("}"); first = false) {
                    if (!first) take(line, ",");
                    auto const label = take_name(line, false);
                    if (!seen.insert(label).second) refuse("a label twice");
                    take(line, "=\"");
                    auto const value = take_escaped(line, '"');
                    auto const pair = label + "=\"" + value + "\"";
                    labels.append(labels.empty() ? "" : ",").append(pair);
                    if (label == "le")
                        le = value;
                    else
                        others += pair + ",";
                }
                take(line, "}");
            }
            take(line, " ");
            std::string const number{line};
            char* end = nullptr;
            double const value = std::strtod(number.c_str(), &end);
            if (number.empty() || std::isspace(static_cast<unsigned char>(number[0])) || *end != '\0')
                refuse("not a number");
            check_sample(suffix, le, others, value);
            has_samples = true;
            auto const full = labels.empty() ? name : name + "{" + labels + "}";
            if (!e.samples.emplace(full, value).second) refuse("a sample twice");
        }
        void check_sample(std::string const& suffix, std::string const& le, std::string const& others, double value) {
            if (type == "counter") {
                if (suffix != "_total") refuse("a counter ends with _total");
                if (!(value >= 0)) refuse("a counter below zero");
            } else if (type == "gauge") {
                if (!suffix.empty()) refuse("a gauge has no suffix");
            } else if (type == "histogram") {
                auto& h = histograms[others];
                if (suffix == "_bucket") {
                    if (le.empty()) refuse("a bucket without le");
                    double const bound = le == "+Inf" ? 1e300 : std::strtod(le.c_str(), nullptr);
                    if (le != "+Inf" && le.find_first_of(".e") == le.npos) refuse("le is no canonical number");
                    if (bound <= h.last_bound || value < h.last_count) refuse("buckets must ascend");
                    h.last_bound = bound;
                    h.last_count = value;
                    if (le == "+Inf") h.infinite = value;
                } else if (suffix == "_count") {
                    h.count = value;
                } else if (suffix == "_sum") {
                    h.has_sum = true;
                } else {
                    refuse("a histogram has _bucket, _count and _sum");
                }
            } else {
                refuse("a sample of no type");
            }
        }
        void read_metadata(std::string_view line) {
            take(line, "# ");
            auto const keyword = take_name(line, false);
            take(line, " ");
            auto const name = take_name(line, true);
            take(line, " ");
            if (name != family) {
                if (keyword != "TYPE") refuse("a family begins with its type");
                end_group();
                family = name;
                unit.clear();
                type.clear();
                has_help = has_samples = false;
                if (e.types.contains(name)) refuse("a family twice");
            }
            if (has_samples) refuse("metadata behind samples");
            if (keyword == "TYPE") {
                if (!type.empty()) refuse("a type twice");
                type = line;
                static std::set<std::string> const known{"counter", "gauge", "histogram"};
                if (!known.contains(type)) refuse("no such type");
                e.types[name] = type;
                if (name.ends_with("_total") || name.ends_with("_count") || name.ends_with("_sum") ||
                    name.ends_with("_bucket"))
                    refuse("a family's name must not look like a sample's");
            } else if (keyword == "UNIT") {
                if (!name.ends_with("_" + std::string{line})) refuse("the unit must end the name");
            } else if (keyword == "HELP") {
                if (std::exchange(has_help, true)) refuse("a help twice");
                (void)take_escaped(line, '\0');
            } else {
                refuse("no such keyword");
            }
        }
    };
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_EVENTS_OPENMETRICS_PARSER_HPP
