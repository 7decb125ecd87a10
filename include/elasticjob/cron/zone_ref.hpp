// SPDX-License-Identifier: Apache-2.0
/// \file \brief A reference to a time zone of any type, so that searches do not need to be templates.
#ifndef ELASTICJOB_CRON_ZONE_REF_HPP
#define ELASTICJOB_CRON_ZONE_REF_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/cron/time_zone.hpp>
#include <elasticjob/cron/tzif_zone.hpp>

#include <concepts>
#include <string_view>
#include <utility>

namespace elasticjob {

/// A zone type that can load zones by name.
template <class Zone>
concept named_time_zone = time_zone<Zone> && requires(std::string_view name) {
    { Zone::load(name) } -> std::same_as<result<Zone>>;
};

/// An object pointer and two function pointers. Loads a named zone by the referenced zone's type if that is a
/// `named_time_zone`, or else from the system's database. Models `time_zone`. The zone must outlive this object.
class zone_ref {
public:
    template <class Zone>
    requires(!std::same_as<Zone, zone_ref> && time_zone<Zone>)
        zone_ref(Zone const& zone) // NOLINT: a parameter of this type takes any zone
        : zone_{&zone},
          at_{&at_of<Zone>},
          load_{loader_of<Zone>()} {}

    zone_segment at(std::chrono::sys_seconds t) const { return at_(zone_, t); }

    /// Loads a zone by name; the result owns it. Errors: those of the zone's `load`.
    result<std::shared_ptr<zone_ref const>> load(std::string_view name) const;

private:
    template <class Zone>
    static zone_segment at_of(void const* zone, std::chrono::sys_seconds t) {
        return static_cast<Zone const*>(zone)->at(t);
    }
    template <class Zone>
    static result<std::shared_ptr<zone_ref const>> load_by_type(std::string_view name);
    static result<std::shared_ptr<zone_ref const>> load_by_system(std::string_view name);

    template <class Zone>
    static constexpr auto loader_of() {
        if constexpr (named_time_zone<Zone> && !std::same_as<Zone, TzifZone>)
            return &load_by_type<Zone>;
        else
            return &load_by_system;
    }

    void const* zone_;
    zone_segment (*at_)(void const*, std::chrono::sys_seconds);
    result<std::shared_ptr<zone_ref const>> (*load_)(std::string_view);
};

template <class Zone>
result<std::shared_ptr<zone_ref const>> zone_ref::load_by_type(std::string_view name) {
    ELASTICJOB_TRY(auto zone, Zone::load(name));
    struct loaded {
        explicit loaded(Zone z) : zone{std::move(z)}, ref{zone} {}
        Zone zone;
        zone_ref ref;
    };
    auto const it = std::make_shared<loaded const>(std::move(zone));
    return std::shared_ptr<zone_ref const>{it, &it->ref};
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/cron/zone_ref.ipp>
#endif
#endif // ELASTICJOB_CRON_ZONE_REF_HPP
