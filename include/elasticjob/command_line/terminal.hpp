// SPDX-License-Identifier: Apache-2.0
/// \file \brief Where the program reads and writes: a terminal, or a pipe or a file.
#ifndef ELASTICJOB_COMMAND_LINE_TERMINAL_HPP
#define ELASTICJOB_COMMAND_LINE_TERMINAL_HPP

#include <elasticjob/config/config_file.hpp> // variable_lookup
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/execution/descriptor.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <signal.h>

namespace elasticjob::cli {

/// The three streams of a process. It does not own them. Threads: one at a time.
class terminal {
public:
    explicit terminal(variable_lookup find = environment_variable, int in = 0, int out = 1, int err = 2) noexcept
        : find_{find},
          in_{in},
          out_{out},
          err_{err} {}

    std::optional<std::string> variable(std::string const& name) const { return find_(name); }
    variable_lookup lookup() const noexcept { return find_; }

    void write(std::string_view text) { write_to(out_, text); }
    void write_message(std::string_view text) { write_to(err_, text); }

    /// Whether something could not be written: a full disk, or a reader that has gone.
    bool has_failed() const noexcept { return has_failed_; }

    /// Whether somebody is there to answer a question.
    bool can_ask() const noexcept;

    /// Writes the question and reads a line; nothing at the end of the input. Precondition: `can_ask()`.
    std::optional<std::string> ask(std::string_view question);

    bool shows_to_people() const noexcept; ///< the standard output is a terminal
    bool has_colour() const;               ///< it is, and neither NO_COLOR nor TERM says otherwise

    struct extent {
        std::size_t columns = 80;
        std::size_t lines = 24;
    };
    extent size() const noexcept;

    int input() const noexcept { return in_; }
    int output() const noexcept { return out_; }

private:
    void write_to(int descriptor, std::string_view text);

    variable_lookup find_;
    int in_, out_, err_;
    bool has_failed_ = false;
};

/// Why a wait of `live_screen` has ended.
struct screen_news {
    enum class kind { changed, interval, key, stale, closed } what{};
    char key = 0;
};

/// The whole terminal for a view that is drawn again and again. Its destructor leaves the terminal as it was, and so
/// does each signal that ends or stops the process, whatever the process does then: a handler restores the terminal
/// before the signal takes its effect. Preconditions: `t` is a terminal both ways, and there is no other live_screen.
/// Threads: one.
class live_screen {
public:
    /// `stale` is set when the screen has to be drawn again: its size has changed, or the process was stopped.
    live_screen(terminal& t, elasticjob::detail::wake_up stale);
    live_screen(live_screen const&) = delete;
    live_screen& operator=(live_screen const&) = delete;
    ~live_screen();

    /// Lines without line breaks inside of them; those that do not fit are left out.
    void draw(std::string_view text);

    /// Waits until `changed` is readable, a key is pressed, the screen has to be drawn again, or `span` has passed. No
    /// reason is lost that comes up between two waits.
    screen_news wait(int changed, std::chrono::milliseconds span);

private:
    struct taken_signal {
        int number;
        struct ::sigaction before;
    };

    terminal& terminal_;
    elasticjob::detail::wake_up stale_;
    std::vector<taken_signal> taken_{};
};

} // namespace elasticjob::cli

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/command_line/terminal.ipp>
#endif
#endif // ELASTICJOB_COMMAND_LINE_TERMINAL_HPP
