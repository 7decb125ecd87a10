// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_FIND_PROGRAM_IPP
#define ELASTICJOB_IMPL_EXECUTION_FIND_PROGRAM_IPP

#include <elasticjob/core/line_text.hpp>
#include <elasticjob/execution/find_program.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL result<std::string> find_program(std::string_view name) {
    if (name.find('/') != name.npos) return std::string{name};
    auto const* const set = std::getenv("PATH");
    std::string_view const path = set ? set : "/bin:/usr/bin";
    std::string forbidden;
    for (std::size_t begin = 0; begin <= path.size();) {
        auto const end = std::min(path.find(':', begin), path.size());
        auto const directory = path.substr(begin, end - begin);
        auto candidate = std::string{directory.empty() ? "." : directory}.append("/").append(name);
        begin = end + 1;
        struct stat found {};
        if (::stat(candidate.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) continue;
        if (::access(candidate.c_str(), X_OK) == 0) {
            std::error_code failed;
            auto const whole = std::filesystem::absolute(candidate, failed);
            return failed ? candidate : whole.native();
        }
        if (forbidden.empty()) forbidden = std::move(candidate);
    }
    if (!forbidden.empty()) return error{errc::job_failed, "cannot run " + in_quotes(forbidden) + ": not executable"};
    return error{errc::job_failed,
                 "cannot run " + in_quotes(name) + ": no such program on the PATH " + in_quotes(path)};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EXECUTION_FIND_PROGRAM_IPP
