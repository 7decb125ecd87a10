// SPDX-License-Identifier: Apache-2.0
/// \file \brief The common part of the zones of std::chrono and of Howard Hinnant's date library.
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

/// The two libraries have different first and last instants. No schedule comes near them, so a segment that reaches
/// more than a thousand years from 1970 counts as endless on that side.
inline zone_segment unbounded_segment(std::chrono::sys_seconds begin, std::chrono::sys_seconds end,
                                      std::chrono::seconds offset) noexcept {
    constexpr auto far = std::chrono::days{365'250};
    constexpr auto zero = std::chrono::sys_seconds{};
    return {begin < zero - far ? std::chrono::sys_seconds::min() : begin,
            end > zero + far ? std::chrono::sys_seconds::max() : end, offset};
}

} // namespace detail

/// `Library` has a static `locate_zone(name)`, which throws, or returns a pointer to an object that lives until the
/// program ends. That object has `get_info(sys_seconds) -> { begin, end, offset }`. This type holds the pointer; a
/// default-constructed one is UTC. Threads: the zone's.
template <class Library>
class chrono_zone {
public:
    chrono_zone() = default;

    /// Loads a zone of the library's IANA database. Errors: invalid_argument, with the library's message.
    static result<chrono_zone> load(std::string_view name) {
#if defined(__cpp_exceptions)
        try {
            return locate(name);
        } catch (std::exception const& e) {
            return error{errc::invalid_argument, e.what(), std::string{name}};
        }
#else
        return locate(name); // built without exceptions: an exception of the library ends the program
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
        zone.at({}); // Some libraries read the zone only at the first use; `at` must not fail later.
        return zone;
    }

    pointer zone_ = nullptr;
};

} // namespace elasticjob
#endif // ELASTICJOB_CRON_CHRONO_ZONE_HPP
