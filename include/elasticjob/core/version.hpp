// SPDX-License-Identifier: Apache-2.0
/// \file \brief The version. Only this file states it; the build reads it from here.
#ifndef ELASTICJOB_CORE_VERSION_HPP
#define ELASTICJOB_CORE_VERSION_HPP

#define ELASTICJOB_VERSION_MAJOR 0
#define ELASTICJOB_VERSION_MINOR 1
#define ELASTICJOB_VERSION_PATCH 0

#endif // ELASTICJOB_CORE_VERSION_HPP
