// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_SCRIPT_IPP
#define ELASTICJOB_IMPL_EXECUTION_SCRIPT_IPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp> // min
#include <elasticjob/core/line_stream.hpp>
#include <elasticjob/execution/script.hpp>

#include <mutex>

namespace elasticjob {

namespace detail {
inline std::mutex forwarding;
} // namespace detail

ELASTICJOB_DECL result<void> detail::check(script_options const& o) {
    constexpr char nul = '\0';
    if (o.working_directory.find(nul) != std::string::npos)
        return error{errc::invalid_argument, "a working directory must not contain a NUL", "working_directory"};
    for (auto const& [name, value] : o.environment) {
        if (name.empty() || name.find('=') != std::string::npos || name.find(nul) != std::string::npos)
            return error{errc::invalid_argument,
                         "the name of an environment variable must not be empty, nor contain '=' or a NUL",
                         "environment: " + name};
        if (value.find(nul) != std::string::npos)
            return error{errc::invalid_argument, "the value of an environment variable must not contain a NUL",
                         "environment: " + name};
    }
    return success();
}

ELASTICJOB_DECL void ForwardOutput::operator()(script_line const& line) const {
    auto text = line.run.job_name + "[" + std::to_string(line.run.item) + "]: ";
    text.append(line.text);
    if (line.dropped != 0) text.append(" [").append(std::to_string(line.dropped)).append(" bytes dropped]");
    auto& to = line.stream == script_stream::out ? detail::standard_output : detail::standard_error;
    std::lock_guard const one_at_a_time{detail::forwarding}; // so that long lines stay whole
    to.tell(text, std::chrono::seconds{1});
}

ELASTICJOB_DECL void EventOutput::operator()(script_line const& line) const {
    if (auto* const to = line.run.lines) to->tell(*to, line.stream, line.text, line.dropped);
}

ELASTICJOB_DECL bool detail::report_progress(script_line const& line) {
    constexpr std::string_view begin = "elasticjob progress ";
    if (line.stream != script_stream::out || line.dropped != 0 || !line.text.starts_with(begin)) return false;
    auto const numbers = line.text.substr(begin.size());
    auto const gap = std::min(numbers.find(' '), numbers.size());
    std::uint64_t done = 0, total = 0;
    bool const is_total_known = gap != numbers.size();
    if (!read_number(numbers.substr(0, gap), done)) return false;
    if (is_total_known && !read_number(numbers.substr(gap + 1), total)) return false;
    line.run.progress(done, total);
    return true;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EXECUTION_SCRIPT_IPP
