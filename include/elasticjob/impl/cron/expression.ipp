// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CRON_EXPRESSION_IPP
#define ELASTICJOB_IMPL_CRON_EXPRESSION_IPP

#include <elasticjob/core/line_text.hpp>
#include <elasticjob/cron/expression.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL error error_of(cron_fault const& fault, std::string_view text) {
    auto const [wrong, right] = wording_of(fault.problem);
    error e{fault.is_about_never_firing() ? errc::cron_never_fires : errc::invalid_cron, std::string{wrong},
            "column " + std::to_string(fault.column())};
    if (fault.length) e.what.append(": ").append(in_quotes(text.substr(fault.at, fault.length)));
    if (!right.empty()) e.what.append(". ").append(right);
    return e;
}

} // namespace elasticjob::detail

namespace elasticjob {

ELASTICJOB_DECL result<cron_expression> parse_cron(std::string_view text) {
    auto const parsed = detail::cron_parser{text}.parse();
    if (parsed.fault) return detail::error_of(parsed.fault, text);
    return cron_expression{parsed.fields};
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CRON_EXPRESSION_IPP
