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

/// JT-4 to JT-8. `job_config::script_command_line`, with `script_argument` behind it, is run without a shell, in a process group
/// of its own, with nothing on its stdin. Exit code 0 is success.
///
/// When the stop token asks for it, or the time is over, the whole group is told to end (SIGTERM), and after the grace it is
/// killed. When the program has ended, what is left of its group is killed: nothing of a run outlives it, nor the scheduler;
/// see detail::child_process for what is not reached. What ends by itself with code 0 although it was asked to stop has
/// succeeded; what was still there when the time was over has not, whatever its code.
///
/// A thread of the pool waits while the program runs. In a simulation that is the loop itself, in real time.
struct ScriptExecutor {
    static constexpr job_type type = job_type::script;

    /// Errors: invalid_config (the command line), too_large (the parameters, for the kernel), job_failed (the program cannot be
    /// started or does not succeed; with the last it has written to stderr), timed_out (it was not ready in time), job_threw (the output handler).
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
        ELASTICJOB_TRY(auto command, parse_command_line(line, options.quoting));
        ELASTICJOB_TRY(auto program, detail::find_program(command.program));
        command.arguments.push_back(script_argument(ctx));
        auto const variables = script_variables(ctx, command.arguments.back());

        ELASTICJOB_TRY(auto const stop, detail::wake_up::make());
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
