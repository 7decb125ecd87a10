// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_HTTP_CONTEXT_IPP
#define ELASTICJOB_IMPL_EXECUTION_HTTP_CONTEXT_IPP

#include <elasticjob/core/line_text.hpp>
#include <elasticjob/execution/http_context.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL std::string ascii_json(std::string_view json) {
    std::string out;
    auto const escape = [&](unsigned unit) {
        constexpr char hex[] = "0123456789abcdef";
        out.append("\\u").append({hex[unit >> 12 & 15], hex[unit >> 8 & 15], hex[unit >> 4 & 15], hex[unit & 15]});
    };
    for_each_character(json, [&](std::string_view character) {
        auto const byte = [&](std::size_t i) {
            return static_cast<unsigned>(static_cast<unsigned char>(character[i]));
        };
        if (character.size() == 1 && 0x20 <= byte(0) && byte(0) < 0x7f) return void(out += character.front());
        unsigned code = character.size() == 1 ? byte(0) : byte(0) & (0x7fU >> character.size());
        for (std::size_t i = 1; i < character.size(); ++i) code = code << 6 | (byte(i) & 0x3f);
        if (code < 0x10000) return escape(code);
        escape(0xd800 + ((code - 0x10000) >> 10));
        escape(0xdc00 + ((code - 0x10000) & 0x3ff));
    });
    return out;
}

} // namespace elasticjob::detail

namespace elasticjob {

ELASTICJOB_DECL result<http_headers> http_run_headers(sharding_context const& ctx) {
    using std::chrono::milliseconds;
    constexpr std::size_t context_max = 6'000;
    auto context = detail::ascii_json(script_argument(ctx));
    if (context.size() > context_max)
        return error{errc::too_large,
                     "the sharding context takes " + std::to_string(context.size()) +
                         " bytes of a header, which may have " + std::to_string(context_max) +
                         ": job_parameter or the item's must be shorter",
                     ctx.job_name};
    auto const due = std::chrono::floor<milliseconds>(ctx.due.time_since_epoch()).count();
    return http_headers{{"Elasticjob-Context", std::move(context)},
                        {"Elasticjob-Due", std::to_string(due)},
                        {"Elasticjob-Source", std::string{name_of(ctx.source)}},
                        {"Elasticjob-Attempt", std::to_string(ctx.attempt)},
                        {"Elasticjob-Token", std::to_string(ctx.token)}};
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EXECUTION_HTTP_CONTEXT_IPP
