// SPDX-License-Identifier: Apache-2.0
#include <support/places.hpp>

namespace elasticjob::test {

std::string source_path(std::string_view path) { return ELASTICJOB_SOURCE_DIR "/" + std::string{path}; }

std::string built_path(std::string_view name) { return ELASTICJOB_TEST_BINARY_DIR "/" + std::string{name}; }

} // namespace elasticjob::test
