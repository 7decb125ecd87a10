// SPDX-License-Identifier: Apache-2.0
/// \file \brief Runs a program for each item.
#ifndef ELASTICJOB_EXECUTION_SCRIPT_EXECUTOR_HPP
#define ELASTICJOB_EXECUTION_SCRIPT_EXECUTOR_HPP

#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/execution/command_line.hpp>
#include <elasticjob/execution/executor.hpp>
#include <elasticjob/execution/find_program.hpp>
#include <elasticjob/execution/script.hpp>
#include <elasticjob/execution/script_context.hpp>
#include <elasticjob/execution/script_run.hpp>

#include <stop_token>
#include <string>
#include <utility>

namespace elasticjob {

/// JT-4 to JT-8. Runs `job_config::script_command_line`, followed by `script_argument`, without a shell, in its own
/// process group, with an empty stdin. Exit code 0 is success.
///
/// When the stop token fires or the time is over, the whole group receives SIGTERM, and after the grace SIGKILL. When
/// the program has ended, the rest of its group is killed, so no process outlives its run or the scheduler;
/// detail::child_process lists the exceptions. A program that exits with code 0 after a request to stop has succeeded.
/// A program that was still running when its time was over has failed, whatever its code.
///
/// A thread of the pool waits while the program runs. In a simulation the loop itself waits, in real time.
struct ScriptExecutor {
    static constexpr job_type type = job_type::script;

    /// Errors: invalid_config (the command line), invalid_argument (the working directory or a variable), too_large
    /// (the parameters exceed the kernel's limit), job_failed (the program cannot be started or fails; with its last
    /// lines on stderr), timed_out (its time was over), job_threw (the output handler).
    template <script_output Output>
    result<void> operator()(script<Output>& body, sharding_context const& ctx) const {
        auto const& line = ctx.config ? ctx.config->script_command_line : std::string{};
        if (line.empty())
            return error{errc::invalid_config,
                         "Cannot find script command line for job '" + ctx.job_name + "', job is not executed."};
        auto outcome = detail::guarded_call([&] { return run(line, body, ctx); });
        if (outcome) return outcome;
        auto failed = std::move(outcome).error();
        if (failed.where.empty()) failed.where = line;
        return failed;
    }

    template <class Body, class>
    static constexpr void check_body() {
        static_assert(body_for<Body, ScriptExecutor>,
                      "ScriptExecutor takes a script, as in script{} or script{output}: the program is job_config's "
                      "script_command_line");
    }

private:
    template <class Output>
    static result<void> run(std::string const& line, script<Output>& body, sharding_context const& ctx) {
        if (ctx.stop.stop_requested())
            return error{errc::job_failed,
                         "not started: the run has been asked to stop (" + std::string{name_of(ctx.why_stop())} + ")"};
        auto const& options = body.options;
        ELASTICJOB_CHECK(detail::check(options));
        ELASTICJOB_TRY(auto command, parse_command_line(line, options.quoting));
        ELASTICJOB_TRY(auto program, detail::find_program(command.program));
        command.arguments.push_back(script_argument(ctx));
        auto const variables = script_variables(ctx, command.arguments.back());

        ELASTICJOB_TRY(auto const stop, detail::event_descriptor::make());
        std::stop_callback const on_stop{ctx.stop, [&] { stop.set(); }};
        ELASTICJOB_TRY(auto child, detail::child_process::start(
                                       {.program = std::move(program),
                                        .name = command.program,
                                        .arguments = std::move(command.arguments),
                                        .environment = detail::merged_environment(variables, options.environment),
                                        .working_directory = options.working_directory}));
        detail::script_run<Output> one{std::move(child), stop, options, body.output, ctx};
        return one.finish(command.program);
    }
};
static_assert(executor<ScriptExecutor>);

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_SCRIPT_EXECUTOR_HPP
