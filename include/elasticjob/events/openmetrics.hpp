// SPDX-License-Identifier: Apache-2.0
/// \file \brief Writes numbers in the text format of OpenMetrics, which Prometheus reads.
#ifndef ELASTICJOB_EVENTS_OPENMETRICS_HPP
#define ELASTICJOB_EVENTS_OPENMETRICS_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/events/text_forms.hpp>

#include <charconv>
#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob {

/// One page, from the first family to `finish`. All samples of a family follow its `family` call.
class openmetrics_writer {
public:
    using labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

    static constexpr char const* content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    /// If there is a unit, it is the last word of the family's name.
    openmetrics_writer& family(std::string_view name, std::string_view type, std::string_view help,
                               std::string_view unit = {});

    /// `suffix` is `_total` for a counter, `_bucket`, `_count` and `_sum` for a histogram, nothing for a gauge.
    template <class Number>
    requires std::integral<Number> || std::floating_point<Number> openmetrics_writer& sample(std::string_view suffix,
                                                                                             labels all, Number value) {
        text_.append(name_).append(suffix);
        char separator = '{';
        for (auto const& [name, label] : all) {
            (text_ += separator).append(name).append("=\"");
            append_text(label);
            text_ += '"';
            separator = ',';
        }
        if (separator == ',') text_ += '}';
        text_ += ' ';
        if constexpr (std::integral<Number>)
            text_ += std::to_string(value);
        else
            text_ += number(value);
        text_ += '\n';
        return *this;
    }

    std::string finish() { return std::move(text_.append("# EOF\n")); }

    /// The form of a number in the label `le`: always with a fraction.
    static std::string number(double value);

private:
    void append_text(std::string_view text);

    std::string text_, name_;
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/events/openmetrics.ipp>
#endif
#endif // ELASTICJOB_EVENTS_OPENMETRICS_HPP
