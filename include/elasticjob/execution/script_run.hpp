// SPDX-License-Identifier: Apache-2.0
/// \file \brief One run of a script, from its start to the end of its last process.
#ifndef ELASTICJOB_EXECUTION_SCRIPT_RUN_HPP
#define ELASTICJOB_EXECUTION_SCRIPT_RUN_HPP

#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/line_text.hpp>
#include <elasticjob/execution/child_process.hpp>
#include <elasticjob/execution/output_lines.hpp>
#include <elasticjob/execution/script.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring> // sigabbrev_np
#include <ctime>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <poll.h>
#include <unistd.h>

namespace elasticjob::detail {

/// The thread waits in poll for the first of these: output, the end of the program, the stop token, a time limit.
template <script_output Output>
class script_run {
public:
    script_run(child_process child, event_descriptor const& stop, script_options const& options, Output& output,
               sharding_context const& ctx)
        : child_{std::move(child)},
          stop_{stop},
          options_{options},
          output_{output},
          ctx_{ctx},
          budget_{options.output_max},
          streams_{stream{script_stream::out, child_.out(), {options.line_max, budget_}},
                   stream{script_stream::err, child_.err(), {options.line_max, budget_}}} {}
    script_run(script_run const&) = delete;
    script_run& operator=(script_run const&) = delete;

    /// Errors: job_failed, timed_out.
    result<void> finish(std::string_view program) {
        due_ = later(SystemClock{}.now(), options_.time_limit);
        if (options_.time_limit.count() <= 0) due_ = mono_time::max();
        while (!wait())
            if (SystemClock{}.now() >= due_) take_next_step(stop_reason::time_limit);
        auto const ended = child_.end();
        for (auto& s : streams_) {
            drain(s);
            s.lines.finish(teller(s));
        }
        return judge(program, ended);
    }

private:
    struct stream {
        script_stream name;
        int source; ///< -1: at its end
        output_lines lines;
    };

    /// Returns true if the program has ended, false if something else has happened or `due_` has passed.
    bool wait() {
        pollfd const ended{.fd = child_.exited(), .events = POLLIN, .revents = 0};
        pollfd const asked{.fd = is_asked_ ? -1 : stop_.get(), .events = POLLIN, .revents = 0};
        std::array<pollfd, 4> on{ended, asked, {streams_[0].source, POLLIN, 0}, {streams_[1].source, POLLIN, 0}};
        timespec left{};
        if (due_ != mono_time::max()) {
            std::chrono::nanoseconds const span = std::max(due_ - SystemClock{}.now(), mono_time::duration{});
            left.tv_sec = static_cast<time_t>(span.count() / 1'000'000'000);
            left.tv_nsec = static_cast<long>(span.count() % 1'000'000'000);
        }
        if (::ppoll(on.data(), on.size(), due_ == mono_time::max() ? nullptr : &left, nullptr) < 0) return false;
        if (on[0].revents) return true;
        if (on[1].revents) {
            is_asked_ = true;
            if (step_ == step::running) take_next_step(ctx_.why_stop());
        }
        for (std::size_t i = 0; i < streams_.size(); ++i)
            if (on[i + 2].revents) read_once(streams_[i]);
        return false;
    }

    /// Moves from running to SIGTERM, and from there to SIGKILL.
    void take_next_step(stop_reason why) {
        if (step_ == step::running) {
            why_ = why;
            step_ = step::told;
            due_ = later(SystemClock{}.now(), options_.grace);
            child_.signal(SIGTERM);
            child_.signal(SIGCONT); // a stopped process would not handle the signal
        } else {
            step_ = step::killed;
            due_ = mono_time::max();
            child_.signal(SIGKILL);
        }
    }

    auto teller(stream const& s) {
        return [this, &s](std::string_view text, std::size_t dropped) {
            output_(script_line{ctx_, s.name, text, dropped});
        };
    }

    /// Returns whether there was output to read.
    bool read_once(stream& s) {
        std::array<char, 16'384> buffer;
        auto const count = ::read(s.source, buffer.data(), buffer.size());
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
        if (count <= 0) {
            s.source = -1;
            return false;
        }
        std::string_view const bytes{buffer.data(), static_cast<std::size_t>(count)};
        if (s.name == script_stream::err) last_words_.hear(bytes);
        s.lines.feed(bytes, teller(s));
        return true;
    }

    /// Reads the rest of the pipe. A process that has left the group may continue writing, so this is limited.
    void drain(stream& s) {
        for (int reads = 0; reads < 64 && s.source >= 0 && read_once(s);) ++reads;
    }

    result<void> judge(std::string_view program, child_exit ended) const {
        using kind = child_exit::kind;
        bool const is_good = ended.how == kind::code && ended.number == 0;
        if (why_ != stop_reason::time_limit && is_good) return success();
        std::string how;
        switch (ended.how) {
        case kind::code:
            how = "left with exit code " + std::to_string(ended.number);
            break;
        case kind::signal:
            how = "was ended by " + name_of_signal(ended.number);
            break;
        case kind::unknown:
            return error{errc::job_failed, in_quotes(program) + exit_code_taken};
        }
        if (why_) how.append(", after it had been asked to stop (").append(name_of(*why_)).append(")");
        if (auto const words = last_words_.text(); !words.empty()) how.append("; it said: ").append(words);
        return error{why_ == stop_reason::time_limit ? errc::timed_out : errc::job_failed,
                     in_quotes(program) + " " + std::move(how)};
    }

    static std::string name_of_signal(int number) {
        auto name = "signal " + std::to_string(number);
#if defined(__GLIBC__)
        if (auto const* const known = ::sigabbrev_np(number)) name.append(" (SIG").append(known).append(")");
#endif
        return name;
    }

    static mono_time later(mono_time now, std::chrono::milliseconds span) {
        auto const longest = std::chrono::floor<std::chrono::milliseconds>(mono_time::max() - now);
        return span < longest ? now + span : mono_time::max();
    }

    enum class step { running, told, killed };

    child_process child_;
    event_descriptor const& stop_;
    script_options const& options_;
    Output& output_;
    sharding_context const& ctx_;
    std::size_t budget_;
    std::array<stream, 2> streams_;
    last_words last_words_; ///< of stderr
    step step_ = step::running;
    bool is_asked_ = false;
    std::optional<stop_reason> why_;   ///< the program has been told to end
    mono_time due_ = mono_time::max(); ///< of the next step
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_EXECUTION_SCRIPT_RUN_HPP
