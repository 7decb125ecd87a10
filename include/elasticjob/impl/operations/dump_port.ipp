// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_DUMP_PORT_IPP
#define ELASTICJOB_IMPL_OPERATIONS_DUMP_PORT_IPP

#include <elasticjob/operations/dump_port.hpp>

namespace elasticjob {

ELASTICJOB_DECL dump_port::~dump_port() {
    if (!stop_) return;
    stop_->set();
    thread_.join();
}

ELASTICJOB_DECL bool dump_port::is_dump(std::string_view line) noexcept {
    constexpr std::string_view word = "dump";
    return std::equal(line.begin(), line.end(), word.begin(), word.end(),
                      [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_OPERATIONS_DUMP_PORT_IPP
