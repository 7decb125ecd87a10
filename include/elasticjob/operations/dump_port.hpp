// SPDX-License-Identifier: Apache-2.0
/// \file \brief The monitor port of 2.1.5: `echo dump | nc 127.0.0.1 9888`.
#ifndef ELASTICJOB_OPERATIONS_DUMP_PORT_HPP
#define ELASTICJOB_OPERATIONS_DUMP_PORT_HPP

#include <elasticjob/config/job_config.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/start_thread.hpp>
#include <elasticjob/operations/dump.hpp>
#include <elasticjob/operations/line_server.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace elasticjob {

/// Where a dump port listens, and what its clients may take.
struct dump_port_options {
    std::string address = "127.0.0.1"; ///< whoever reaches it may read: there is no password
    int port = 0;                      ///< 0: one that is free

    /// What a client may take in all, from its connection to its end. The dump itself may take no longer either.
    std::chrono::milliseconds client_limit{10'000};

    /// At once. Others wait until they are accepted.
    std::size_t clients_max = 4;

    /// When all places are taken and somebody waits for one, the client goes that has been idle longest, and at least so
    /// long: it has not ended its line, takes nothing of the dump, or has it and does not hang up.
    std::chrono::milliseconds idle_limit{1'000};

    dump_options dump{};
};

/// Answers the line `dump`, in letters of any case, with the dump of a job, and hangs up; also on any other line, without
/// a byte. MO-1 to MO-7, of which these are otherwise: it listens on loopback, unless told otherwise; who cannot listen is
/// told so; which port was free is known; lines, clients and their time have limits; a dump that fails says `error: ` and
/// why; a port ends with its owner; what is read is the registry, not a cache.
///
/// A thread of its own, which does dumps one after another. From its beginning to its end, which must come before that of
/// the registry, and not on the registry's loop; it waits for a dump in progress. The loop is one that has a thread.
/// Movable. Threads: one at a time.
class dump_port {
public:
    /// Errors: unreachable if it cannot listen there, or can have no thread; invalid_argument for a name that no job can have.
    template <registry Registry>
    [[nodiscard]] static result<dump_port> start(Registry& r, std::string_view job, dump_port_options options = {}) {
        ELASTICJOB_TRY(auto name, job_name::parse(job));
        ELASTICJOB_TRY(auto listener, detail::listen_on(options.address, options.port));
        auto stop = detail::wake_up::make();
        if (!stop) return error{errc::unreachable, stop.error().what, options.address};
        auto answer = [&r, name = std::move(name), how = options.dump](std::string_view line, mono_time due) {
            return is_dump(line) ? answer_within(r, name, how, due) : std::string{};
        };
        detail::line_server<decltype(answer)> server{std::move(listener.socket),
                                                     {options.client_limit, options.clients_max, options.idle_limit},
                                                     std::move(answer)};
        auto over = std::make_unique<detail::wake_up>(*std::move(stop));
        auto thread =
            detail::start_thread([server = std::move(server), &on = *over]() mutable { server.run_until(on); });
        if (!thread)
            return error{errc::unreachable, "the port cannot have a thread: " + thread.error().what,
                         options.address + ":" + std::to_string(options.port)};
        return dump_port{std::move(over), listener.port, *std::move(thread)};
    }
    dump_port(dump_port&&) noexcept = default;
    dump_port& operator=(dump_port&&) = delete;

    ~dump_port();

    int port() const noexcept { return port_; }

private:
    dump_port(std::unique_ptr<detail::wake_up> stop, int port, std::thread thread)
        : stop_{std::move(stop)},
          port_{port},
          thread_{std::move(thread)} {}

    static bool is_dump(std::string_view line) noexcept;

    template <class Registry>
    static std::string answer_within(Registry& r, job_name const& job, dump_options how, mono_time due) {
        auto const left = std::chrono::floor<std::chrono::milliseconds>(due - SystemClock{}.now());
        auto const lines = elasticjob::dump(r, job.str(), how, left);
        return lines ? dump_text(*lines) : "error: " + to_string(lines.error()) + "\n";
    }

    std::unique_ptr<detail::wake_up> stop_;
    int port_;
    std::thread thread_;
};

/// What `job_config::monitor_port` asks for, beside the scheduler that runs the job; nothing where it is -1, as by
/// default. The other options as given. Errors: those of `dump_port::start`.
template <registry Registry>
[[nodiscard]] result<std::optional<dump_port>> open_monitor_port(Registry& r, job_config const& config,
                                                                 dump_port_options options = {}) {
    if (config.monitor_port < 0) return std::optional<dump_port>{};
    options.port = config.monitor_port;
    ELASTICJOB_TRY(auto port, dump_port::start(r, config.name, std::move(options)));
    return std::optional<dump_port>{std::move(port)};
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/dump_port.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_DUMP_PORT_HPP
