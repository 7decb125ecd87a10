// SPDX-License-Identifier: Apache-2.0
/// \file \brief The version, written here and nowhere else: the build reads it from this file.
#ifndef ELASTICJOB_CORE_VERSION_HPP
#define ELASTICJOB_CORE_VERSION_HPP

#define ELASTICJOB_VERSION_MAJOR 0
#define ELASTICJOB_VERSION_MINOR 1
#define ELASTICJOB_VERSION_PATCH 0

#endif // ELASTICJOB_CORE_VERSION_HPP
