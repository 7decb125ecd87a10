// SPDX-License-Identifier: Apache-2.0
/// \file \brief What a piece of code writes to standard error.
#ifndef ELASTICJOB_TEST_SUPPORT_STANDARD_ERROR_HPP
#define ELASTICJOB_TEST_SUPPORT_STANDARD_ERROR_HPP

#include <cstdio>
#include <string>
#include <unistd.h> // dup2

namespace elasticjob::test {

/// What the call writes to standard error, up to 4 KiB.
template <class F>
std::string written_by(F f) {
    std::fflush(stderr);
    std::FILE* const file = std::tmpfile();
    int const kept = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    f();
    std::fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    std::rewind(file);
    std::string text(4096, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    return text;
}

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_STANDARD_ERROR_HPP
