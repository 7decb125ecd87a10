// SPDX-License-Identifier: Apache-2.0
/// \file \brief The places of the files that tests read and of the programs that they start. The compiler learns these
/// absolute paths for one small file only, so ccache recognises all others in another clone of the project.
#ifndef ELASTICJOB_TEST_SUPPORT_PLACES_HPP
#define ELASTICJOB_TEST_SUPPORT_PLACES_HPP

#include <string>
#include <string_view>

namespace elasticjob::test {

/// A file of the project: `source_path("test/main.cpp")`.
std::string source_path(std::string_view path);

/// A program or library that is built for the tests: `built_path("cluster_worker")`.
std::string built_path(std::string_view name);

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_PLACES_HPP
