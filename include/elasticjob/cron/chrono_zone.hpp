// SPDX-License-Identifier: Apache-2.0
/// \file \brief What the zones of std::chrono and of the library that it comes from have in common.
#ifndef ELASTICJOB_CRON_CHRONO_ZONE_HPP
#define ELASTICJOB_CRON_CHRONO_ZONE_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/cron/time_zone.hpp>

#include <exception>
#include <string>
#include <string_view>

namespace elasticjob {

namespace detail {

/// The two libraries have ends of time of their own. No schedule comes near them, so that a segment that reaches beyond
/// a thousand years from 1970 is one that has no end.
inline zone_segment unbounded_segment(std::chrono::sys_seconds begin, std::chrono::sys_seconds end,
                                      std::chrono::seconds offset) noexcept {
    constexpr auto far = std::chrono::days{365'250};
    constexpr auto zero = std::chrono::sys_seconds{};
    return {begin < zero - far ? std::chrono::sys_seconds::min() : begin,
            end > zero + far ? std::chrono::sys_seconds::max() : end, offset};
}

} // namespace detail

/// `Library` has a static `locate_zone(name)`, which throws or returns a pointer to what has
/// `get_info(sys_seconds) -> { begin, end, offset }` and is there until the program ends. A pointer; a default one is
/// UTC. Threads: the zone's.
template <class Library>
class chrono_zone {
public:
    chrono_zone() = default;

    /// A name of the IANA database, where the library keeps it. Errors: invalid_argument, with what the library says.
    static result<chrono_zone> load(std::string_view name) {
#if defined(__cpp_exceptions)
        try {
            return locate(name);
        } catch (std::exception const& e) {
            return error{errc::invalid_argument, e.what(), std::string{name}};
        }
#else
        return locate(name); // where the library throws, it ends the program
#endif
    }

    zone_segment at(std::chrono::sys_seconds t) const {
        if (!zone_) return detail::always({});
        auto const info = zone_->get_info(t);
        return detail::unbounded_segment(info.begin, info.end, info.offset);
    }

    friend bool operator==(chrono_zone const&, chrono_zone const&) = default;

private:
    using pointer = decltype(Library::locate_zone(std::string_view{}));

    explicit chrono_zone(pointer zone) noexcept : zone_{zone} {}

    static chrono_zone locate(std::string_view name) {
        chrono_zone const zone{Library::locate_zone(name)};
        zone.at({}); // Some read the zone only now; `at` shall not fail later.
        return zone;
    }

    pointer zone_ = nullptr;
};

} // namespace elasticjob
#endif // ELASTICJOB_CRON_CHRONO_ZONE_HPP
