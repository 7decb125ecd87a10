// SPDX-License-Identifier: Apache-2.0
/// \file \brief A registry in the console, and the type of the functions that answer for it.
#ifndef ELASTICJOB_CONSOLE_SITE_HPP
#define ELASTICJOB_CONSOLE_SITE_HPP

#include <elasticjob/console/call.hpp>
#include <elasticjob/console/change_log.hpp>
#include <elasticjob/console/console_registry.hpp>
#include <elasticjob/console/job_index.hpp>
#include <elasticjob/core/random.hpp>

#include <string>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// A registry with its index of jobs. Threads: any but the loop's.
template <loop Loop>
struct console_site {
    console_site(basic_console_registry<Loop> r, zone_ref z, std::vector<std::string> const& s)
        : name{std::move(r.name)},
          name_space{std::move(r.name_space)},
          registry{r.registry},
          zone{z},
          strategies{s},
          log{random_source{random_source::machine_seed()}.uuid().substr(0, 8)},
          index{registry, z, log} {}

    std::string const name, name_space;
    registry_ref<Loop> registry;
    zone_ref zone; ///< of jobs that specify none
    std::vector<std::string> const& strategies;
    change_log log;
    job_index<registry_ref<Loop>> index;
};

/// A route below `registries/{registry}/`; its pattern omits that beginning.
template <loop Loop>
struct site_route : console_route_shape {
    console_reply (*answer)(console_site<Loop>&, console_call const&);
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_CONSOLE_SITE_HPP
