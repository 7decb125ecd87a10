// SPDX-License-Identifier: Apache-2.0
/// \file \brief A client's connection to the console: reads requests and writes replies, as plain values. Needs the
/// headers of Boost.Beast.
#ifndef ELASTICJOB_CONSOLE_CONNECTION_HPP
#define ELASTICJOB_CONSOLE_CONNECTION_HPP

#include <elasticjob/console/certificate.hpp>
#include <elasticjob/console/message.hpp>
#include <elasticjob/console/options.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/task.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace elasticjob::detail {

/// HTTP/1.1 over TCP, with TLS or without. Each step has the deadline in the options. Threads: the context's; one step
/// at a time. A step may be destroyed only when the context does not run any more.
class console_connection {
public:
    /// A request, or the answer to one that is malformed or not permitted from where it comes.
    struct incoming {
        console_request request{};
        std::optional<console_reply> refused{};
        bool keeps_alive = false; ///< the client wants to send another one
        bool has_body = true;     ///< of the reply
    };

    /// `certificate`: null for a connection without TLS. The arguments must outlive this object.
    console_connection(boost::asio::io_context& context, boost::asio::ip::tcp::socket socket, std::string client,
                       console_certificate* certificate, console_options const& options);
    console_connection(console_connection const&) = delete;
    console_connection& operator=(console_connection const&) = delete;
    ~console_connection();

    /// The first step: begins TLS. Returns whether the connection is usable.
    task<bool> begin();

    /// The next request; nothing if the client sends none in time, or no HTTP.
    task<std::optional<incoming>> read();

    /// Returns whether the reply has been sent.
    task<bool> write(console_reply reply, bool has_body, bool keeps_alive);

    /// The last step: closes the connection after the client has received everything. Closing it with unread input
    /// would discard the reply.
    task<void> end();

    // Instead of a reply: a stream of text, until the client closes the connection.

    /// Begins the stream.
    void begin_stream();

    /// Whether the client has closed the connection.
    bool is_gone() const noexcept;

    /// Sends more of the stream. Returns whether it has been sent.
    task<bool> send(std::string_view text);

    /// Waits until `wake` is called, the client has gone, or that much time has passed.
    task<void> wait(std::chrono::seconds span);
    void wake();

private:
    struct state;
    struct stream_end;
    std::unique_ptr<state> state_;
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/connection.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_CONNECTION_HPP
