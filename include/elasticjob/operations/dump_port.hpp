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

/// The address of a dump port, and the limits for its clients.
struct dump_port_options {
    std::string address = "127.0.0.1"; ///< every client that reaches it may read, because there is no password
    int port = 0;                      ///< 0: any free port

    /// The time limit for a client, from accepting the connection to closing it. It also limits the dump.
    std::chrono::milliseconds client_limit{10'000};

    /// The maximum number of simultaneous clients. Others wait until they are accepted.
    std::size_t clients_max = 4;

    /// If the maximum is reached and another client waits, the port disconnects the client that has been idle longest,
    /// if that is at least this long. A client is idle if it has not completed its line, does not read the dump, or has
    /// read it and does not close the connection.
    std::chrono::milliseconds idle_limit{1'000};

    dump_options dump{};
};

/// Answers the line `dump`, in upper or lower case, with the dump of a job, and closes the connection. After any other
/// line it closes the connection without an answer. Rules MO-1 to MO-7. Unlike 2.1.5, it listens on loopback by
/// default, returns an error if it cannot listen, returns the number of a free port, limits lines, clients and their
/// time, answers a failed dump with `error: ` and the reason, closes with its owner, and reads the registry instead of
/// a cache.
///
/// Its own thread makes one dump after the other. The registry must outlive the port, and its loop must have a thread.
/// Do not destroy the port on that loop: the destructor waits for a dump in progress. Movable. Threads: one at a time.
class dump_port {
public:
    /// Errors: unreachable if it cannot listen there or cannot start a thread; invalid_argument for an invalid job
    /// name.
    template <registry Registry>
    [[nodiscard]] static result<dump_port> start(Registry& r, std::string_view job, dump_port_options options = {}) {
        ELASTICJOB_TRY(auto name, job_name::parse(job));
        ELASTICJOB_TRY(auto listener, detail::listen_on(options.address, options.port));
        auto stop = detail::event_descriptor::make();
        if (!stop) return error{errc::unreachable, stop.error().what, options.address};
        auto answer = [&r, name = std::move(name), how = options.dump](std::string_view line, mono_time due) {
            return is_dump(line) ? answer_within(r, name, how, due) : std::string{};
        };
        detail::line_server<decltype(answer)> server{std::move(listener.socket),
                                                     {options.client_limit, options.clients_max, options.idle_limit},
                                                     std::move(answer)};
        auto over = std::make_unique<detail::event_descriptor>(*std::move(stop));
        auto thread =
            detail::start_thread([server = std::move(server), &on = *over]() mutable { server.run_until(on); });
        if (!thread)
            return error{errc::unreachable, "the port cannot start a thread: " + thread.error().what,
                         options.address + ":" + std::to_string(options.port)};
        return dump_port{std::move(over), listener.port, *std::move(thread)};
    }
    dump_port(dump_port&&) noexcept = default;
    dump_port& operator=(dump_port&&) = delete;

    ~dump_port();

    int port() const noexcept { return port_; }

private:
    dump_port(std::unique_ptr<detail::event_descriptor> stop, int port, std::thread thread)
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

    std::unique_ptr<detail::event_descriptor> stop_;
    int port_;
    std::thread thread_;
};

/// Opens the port in `job_config::monitor_port`, for a program that also runs the job. Returns nothing if it is -1, the
/// default. `options` sets everything else. Errors: those of `dump_port::start`.
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
