// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_COMMAND_LINE_TERMINAL_IPP
#define ELASTICJOB_IMPL_COMMAND_LINE_TERMINAL_IPP

#include <elasticjob/command_line/terminal.hpp>

#include <array>
#include <cerrno>
#include <utility>

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace elasticjob::cli {

ELASTICJOB_DECL bool terminal::can_ask() const noexcept { return ::isatty(in_) == 1 && ::isatty(err_) == 1; }

ELASTICJOB_DECL bool terminal::shows_to_people() const noexcept { return ::isatty(out_) == 1; }

ELASTICJOB_DECL bool terminal::has_colour() const {
    return shows_to_people() && find_("NO_COLOR").value_or("").empty() && find_("TERM").value_or("dumb") != "dumb";
}

ELASTICJOB_DECL std::optional<std::string> terminal::ask(std::string_view question) {
    constexpr std::size_t answer_bytes_max = 4'096;
    write_message(question);
    for (std::string line; line.size() < answer_bytes_max;) {
        char c = 0;
        auto const got = ::read(in_, &c, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return std::nullopt;
        if (c == '\n') return line;
        line += c;
    }
    return std::nullopt;
}

ELASTICJOB_DECL terminal::extent terminal::size() const noexcept {
    ::winsize size{};
    if (::ioctl(out_, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
    return {size.ws_col, size.ws_row};
}

ELASTICJOB_DECL void terminal::write_to(int descriptor, std::string_view text) {
    while (!text.empty()) {
        auto const written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            has_failed_ = true;
            return;
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

namespace detail {

/// The state for the handlers of signals, which cannot get it in another way. Written only while no handler is set.
struct screen_state {
    int in = -1;
    int out = -1;
    int stale = -1; ///< the descriptor of the `event_descriptor`
    ::termios before{};
    ::termios quiet{};
};
inline screen_state the_screen{};

// These functions make only calls that are allowed in a handler of a signal.

inline void enter_screen() noexcept {
    constexpr std::string_view other_screen_without_cursor = "\x1b[?1049h\x1b[?25l";
    ::tcsetattr(the_screen.in, TCSANOW, &the_screen.quiet);
    (void)!::write(the_screen.out, other_screen_without_cursor.data(), other_screen_without_cursor.size());
}

inline void leave_screen() noexcept {
    constexpr std::string_view cursor_and_first_screen = "\x1b[?25h\x1b[?1049l";
    (void)!::write(the_screen.out, cursor_and_first_screen.data(), cursor_and_first_screen.size());
    ::tcsetattr(the_screen.in, TCSANOW, &the_screen.before);
}

extern "C" inline void elasticjob_end_screen(int number) {
    leave_screen();
    ::raise(number); // ends the process when this returns, because the handler is set for one signal only
}

extern "C" inline void elasticjob_stop_screen(int) {
    auto const kept = errno;
    leave_screen();
    ::raise(SIGSTOP);
    enter_screen(); // the process has been continued
    elasticjob::detail::event_descriptor::set(the_screen.stale);
    errno = kept;
}

extern "C" inline void elasticjob_resize_screen(int) {
    auto const kept = errno;
    elasticjob::detail::event_descriptor::set(the_screen.stale);
    errno = kept;
}

} // namespace detail

ELASTICJOB_DECL live_screen::live_screen(terminal& t, elasticjob::detail::event_descriptor stale)
    : terminal_{t},
      stale_{std::move(stale)} {
    auto& screen = detail::the_screen;
    screen.in = t.input();
    screen.out = t.output();
    screen.stale = stale_.get();
    ::tcgetattr(screen.in, &screen.before);
    screen.quiet = screen.before;
    screen.quiet.c_lflag &= ~static_cast<::tcflag_t>(ICANON | ECHO); // the keys for signals keep their meaning
    auto const take = [&](int number, void (*handler)(int), int flags) {
        struct ::sigaction action {};
        action.sa_handler = handler;
        action.sa_flags = flags;
        ::sigaction(number, &action, &taken_.emplace_back(taken_signal{number, {}}).before);
    };
    for (int const number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
        take(number, &detail::elasticjob_end_screen, static_cast<int>(SA_RESETHAND));
    take(SIGTSTP, &detail::elasticjob_stop_screen, 0);
    take(SIGWINCH, &detail::elasticjob_resize_screen, 0);
    detail::enter_screen();
}

ELASTICJOB_DECL live_screen::~live_screen() {
    detail::leave_screen();
    for (auto const& signal : taken_) ::sigaction(signal.number, &signal.before, nullptr);
}

ELASTICJOB_DECL void live_screen::draw(std::string_view text) {
    std::string screen = "\x1b[H"; // each line overwrites the old one, so nothing flickers
    auto const lines = terminal_.size().lines;
    for (std::size_t line = 0; line < lines && !text.empty(); ++line) {
        auto const end = text.find('\n');
        screen.append(line == 0 ? "" : "\r\n").append(text.substr(0, end)).append("\x1b[K");
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    terminal_.write(screen + "\x1b[J");
}

ELASTICJOB_DECL screen_news live_screen::wait(int changed, std::chrono::milliseconds span) {
    using kind = screen_news::kind;
    std::array<::pollfd, 3> on{{{changed, POLLIN, 0}, {terminal_.input(), POLLIN, 0}, {stale_.get(), POLLIN, 0}}};
    if (::poll(on.data(), on.size(), static_cast<int>(span.count())) < 0) return {kind::stale}; // a handler has run
    if (on[2].revents != 0) {
        stale_.clear();
        return {kind::stale};
    }
    if (on[1].revents != 0) {
        char key = 0;
        return ::read(terminal_.input(), &key, 1) == 1 ? screen_news{kind::key, key} : screen_news{kind::closed};
    }
    return {on[0].revents != 0 ? kind::changed : kind::interval};
}

} // namespace elasticjob::cli
#endif // ELASTICJOB_IMPL_COMMAND_LINE_TERMINAL_IPP
