// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_SCRIPT_IPP
#define ELASTICJOB_IMPL_EXECUTION_SCRIPT_IPP

#include <elasticjob/execution/script.hpp>

namespace elasticjob {

ELASTICJOB_DECL void ForwardOutput::operator()(script_line const& line) const {
    auto* const to = line.stream == script_stream::out ? stdout : stderr;
    auto text = line.run.job_name + "[" + std::to_string(line.run.item) + "]: ";
    text.append(line.text);
    if (line.dropped != 0) text.append(" [").append(std::to_string(line.dropped)).append(" bytes dropped]");
    text += '\n';
    std::fwrite(text.data(), 1, text.size(), to); // at once, so that lines stay whole
    std::fflush(to);
}

ELASTICJOB_DECL void EventOutput::operator()(script_line const& line) const {
    if (auto* const to = line.run.lines) to->tell(*to, line.stream, line.text, line.dropped);
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EXECUTION_SCRIPT_IPP
