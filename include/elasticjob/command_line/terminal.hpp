// SPDX-License-Identifier: Apache-2.0
/// \file \brief The program's input and output: a terminal, or a pipe or a file.
#ifndef ELASTICJOB_COMMAND_LINE_TERMINAL_HPP
#define ELASTICJOB_COMMAND_LINE_TERMINAL_HPP

#include <elasticjob/config/config_file.hpp> // variable_lookup
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/descriptor.hpp>

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

    /// Whether a write has failed, because a disk is full or a reader has gone.
    bool has_failed() const noexcept { return has_failed_; }

    /// Whether an operator can answer a question.
    bool can_ask() const noexcept;

    /// Writes the question and reads a line. Nothing at the end of the input. Precondition: `can_ask()`.
    std::optional<std::string> ask(std::string_view question);

    bool shows_to_people() const noexcept; ///< the standard output is a terminal
    bool has_colour() const;               ///< it is a terminal, and neither NO_COLOR nor TERM forbids colours

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

/// The reason why a wait of `live_screen` has ended.
struct screen_news {
    enum class kind { changed, interval, key, stale, closed } what{};
    char key = 0;
};

/// The whole terminal, for a view that is drawn again and again. The destructor restores the terminal. So does each
/// signal that ends or stops the process: a handler restores the terminal before the signal takes effect.
/// Preconditions: `t` is a terminal for input and output, and there is no other live_screen. Threads: one.
class live_screen {
public:
    /// `stale` is set when the screen must be drawn again: its size has changed, or the process was stopped.
    live_screen(terminal& t, elasticjob::detail::event_descriptor stale);
    live_screen(live_screen const&) = delete;
    live_screen& operator=(live_screen const&) = delete;
    ~live_screen();

    /// Draws the lines of the text; lines that do not fit are left out.
    void draw(std::string_view text);

    /// Waits until `changed` is readable, a key is pressed, the screen must be drawn again, or `span` has passed. A
    /// reason that occurs between two waits is not lost.
    screen_news wait(int changed, std::chrono::milliseconds span);

private:
    struct taken_signal {
        int number;
        struct ::sigaction before;
    };

    terminal& terminal_;
    elasticjob::detail::event_descriptor stale_;
    std::vector<taken_signal> taken_{};
};

} // namespace elasticjob::cli

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/command_line/terminal.ipp>
#endif
#endif // ELASTICJOB_COMMAND_LINE_TERMINAL_HPP
