// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EVENTS_TRACE_IPP
#define ELASTICJOB_IMPL_EVENTS_TRACE_IPP

#include <elasticjob/events/trace.hpp>

namespace elasticjob::trace::detail {

using elasticjob::detail::mix_bits;

ELASTICJOB_DECL id_maker& id_maker::add(std::string_view text) {
    for (char const c : text) add_byte(static_cast<unsigned char>(c));
    return add(text.size());
}

ELASTICJOB_DECL id_maker& id_maker::add(std::uint64_t number) {
    for (int n = 0; n < 8; ++n, number >>= 8) add_byte(static_cast<unsigned char>(number & 0xff));
    return *this;
}

ELASTICJOB_DECL std::string id_maker::finish() const {
    constexpr char hex[] = "0123456789abcdef";
    std::uint64_t const half[] = {(mix_bits(high_) & ~0xf000ULL) | 0x8000ULL,
                                  (mix_bits(low_) >> 2) | (2ULL << 62)};
    std::string text;
    for (int n = 0; n < 32; ++n) {
        if (n == 8 || n == 12 || n == 16 || n == 20) text += '-';
        text += hex[(half[n / 16] >> (60 - 4 * (n % 16))) & 15];
    }
    return text;
}

ELASTICJOB_DECL void id_maker::add_byte(unsigned char byte) {
    high_ = (high_ ^ byte) * 0x100000001b3ULL; // FNV-1a
    low_ = mix_bits(low_ + byte + 0x9e3779b97f4a7c15ULL);
}

} // namespace elasticjob::trace::detail

namespace elasticjob::trace {

ELASTICJOB_DECL std::string tracer::begin_message(events::origin const& from) {
    return "Job '" + std::string{from.job} + "' execute begin.";
}

ELASTICJOB_DECL std::string_view tracer::type_of(events::run_name const& run) {
    return run.source == run_source::failover ? "FAILOVER" : "READY";
}

} // namespace elasticjob::trace
#endif // ELASTICJOB_IMPL_EVENTS_TRACE_IPP
