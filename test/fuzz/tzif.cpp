// SPDX-License-Identifier: Apache-2.0
// The bytes of a TZif file: refused with the promised code, or a zone with all its laws.
#include <elasticjob/cron/tzif_zone.hpp>

#include "properties.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace elasticjob;
    if (auto const zone = TzifZone::parse(fuzz::text_of(data, size)))
        fuzz::check(*zone);
    else
        fuzz::require(zone.error() == errc::malformed_data, "bytes that are refused are malformed data");
    return 0;
}
