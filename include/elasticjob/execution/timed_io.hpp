// SPDX-License-Identifier: Apache-2.0
/// \file \brief `timed_io`: a TCP connection with blocking steps, a deadline and a stop token.
#ifndef ELASTICJOB_EXECUTION_TIMED_IO_HPP
#define ELASTICJOB_EXECUTION_TIMED_IO_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include <stop_token>
#include <utility>

namespace elasticjob::detail {

/// The calling thread starts one operation after the other and waits for each. Every operation on the stream ends: by
/// itself, at the deadline, or after a request to stop, which closes the stream. Needs no other thread. Threads: one;
/// stop may be requested on any.
class timed_io {
public:
    timed_io(mono_time deadline, std::stop_token stop) : deadline_{deadline}, on_stop_{std::move(stop), asker{*this}} {}
    timed_io(timed_io const&) = delete;
    timed_io& operator=(timed_io const&) = delete;

    boost::asio::io_context& context() noexcept { return context_; }
    boost::beast::tcp_stream& stream() noexcept { return stream_; }

    /// Limits the following operations to this time, in addition to the deadline.
    void expire_at(mono_time due) { stream_.expires_at(std::min(due, deadline_)); }

    /// `start(done)` starts an operation on the stream that ends with `done(error, ...)`. Returns that error.
    template <class Start>
    boost::system::error_code run(Start start) {
        if (is_asked_) return boost::asio::error::operation_aborted;
        boost::system::error_code outcome;
        bool is_over = false;
        start([&outcome, &is_over](boost::system::error_code failed, auto&&...) {
            outcome = failed;
            is_over = true;
        });
        context_.restart();
        while (!is_over) context_.run_one();
        return outcome;
    }

    bool is_asked() const noexcept { return is_asked_; }
    bool is_too_late() const { return SystemClock{}.now() >= deadline_; }

private:
    struct asker {
        timed_io& io;
        void operator()() const {
            boost::asio::post(io.context_, [&io = io] {
                io.is_asked_ = true;
                io.stream_.close();
            });
        }
    };

    mono_time deadline_;
    boost::asio::io_context context_;
    boost::beast::tcp_stream stream_{context_};
    bool is_asked_ = false;
    std::stop_callback<asker> on_stop_; ///< last: it uses all of the above
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_EXECUTION_TIMED_IO_HPP
