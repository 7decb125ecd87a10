// SPDX-License-Identifier: Apache-2.0
/// \file \brief `script`: the body of a script job, which holds only options.
#ifndef ELASTICJOB_EXECUTION_SCRIPT_HPP
#define ELASTICJOB_EXECUTION_SCRIPT_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/execution/command_line.hpp>     // argument_quoting
#include <elasticjob/execution/sharding_context.hpp> // script_stream

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The options of a script job's program.
struct script_options {
    /// After this time the run is ended; 0: never. `job_config::run_time_limit` does the same.
    std::chrono::milliseconds time_limit{0};

    /// The time between SIGTERM and SIGKILL.
    std::chrono::milliseconds grace{5'000};

    /// The program's working directory; empty for the scheduler's. Without a NUL.
    std::string working_directory{};

    /// Additional environment variables: name, value. They override those of the scheduler. A name is not empty and
    /// has no `=`; neither contains a NUL.
    std::vector<std::pair<std::string, std::string>> environment{};

    std::size_t line_max = 8'192;       ///< bytes of a line that the handler receives; the rest is read and dropped
    std::size_t output_max = 1'048'576; ///< the same for all output of a run

    argument_quoting quoting = argument_quoting::as_parsed; ///< the form of the arguments in the command line
};

namespace detail {

/// Whether a program can be given this directory and these variables as they are. Errors: invalid_argument, with the
/// name of the wrong one.
result<void> check(script_options const& o);

} // namespace detail

/// A line of a program's output. Valid during the call.
struct script_line {
    sharding_context const& run;
    script_stream stream;
    std::string_view text; ///< without its end

    /// The number of dropped bytes of this line. A line without text is the last of its stream; it counts the bytes of
    /// all lines that were dropped because of `output_max`.
    std::size_t dropped = 0;
};

/// | expression | must hold                                                                            |
/// |------------|--------------------------------------------------------------------------------------|
/// | `h(line)`  | returns soon: meanwhile nothing reads the program's output or enforces time limits   |
///
/// An exception ends the run. Models: ForwardOutput, EventOutput, ProgressOutput, or a lambda. Threads: those of the
/// pool; for several items at once, on one object.
template <class H>
concept script_output = std::move_constructible<H> && std::invocable<H&, script_line const&>;

/// Writes to the scheduler's own stdout and stderr, each line after the job and the item: `report[2]: done`. Does not
/// use the buffers of the C library. If nobody reads such a stream for a second, lines are lost until somebody does;
/// the next line states their number.
struct ForwardOutput {
    void operator()(script_line const& line) const;
};

namespace detail {

/// Reports the progress that the line contains. False: it contains none.
bool report_progress(script_line const& line);

} // namespace detail

/// Passes the lines to the scheduler's event sink, as `events::script_output`. Lines that come faster than the loop can
/// report them are lost and counted. Without a scheduler, as in a test, it does nothing.
struct EventOutput {
    void operator()(script_line const& line) const;
};

/// Takes lines such as `elasticjob progress 40 100` on stdout as the progress of the run, see
/// `sharding_context::progress`; the second number may be missing. All other lines go to the handler inside.
template <script_output Others = ForwardOutput>
struct ProgressOutput {
    Others others{}; ///< as given

    void operator()(script_line const& line) {
        if (!detail::report_progress(line)) others(line);
    }
};
template <class Others>
ProgressOutput(Others) -> ProgressOutput<Others>;
ProgressOutput()->ProgressOutput<>;

/// `scheduler.schedule(config, script{})`, `script{{.time_limit = 10min}}`,
/// `script{{}, [](script_line const& line) { … }}`. `job_config::script_command_line` names the program.
template <script_output Output = ForwardOutput>
struct script {
    /// With a handler that replaces ForwardOutput.
    explicit script(script_options how = {}, Output to = {}) : options{std::move(how)}, output{std::move(to)} {}

    script_options options; ///< as given
    Output output;          ///< as given
};
script(script_options)->script<>;
script()->script<>;
template <class Output>
script(script_options, Output) -> script<Output>;

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/script.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_SCRIPT_HPP
