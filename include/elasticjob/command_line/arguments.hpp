// SPDX-License-Identifier: Apache-2.0
/// \file \brief The arguments of a call of the program, as plain values.
#ifndef ELASTICJOB_COMMAND_LINE_ARGUMENTS_HPP
#define ELASTICJOB_COMMAND_LINE_ARGUMENTS_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/operations/command.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace elasticjob::cli {

/// The address of the registry.
struct registry_address {
    std::string servers{}; ///< host:port, separated by commas
    std::string name_space{};
    std::string digest{}; ///< user:password; empty: none
};

/// The arguments of a command, in addition to the options of all commands. A set: `takes::job | takes::item`.
enum class takes : std::uint32_t {
    nothing = 0,
    job = 1U << 0,         ///< JOB
    any_job = 1U << 1,     ///< JOB, or all
    item = 1U << 2,        ///< ITEM
    any_item = 1U << 3,    ///< ITEM, or all
    due = 1U << 4,         ///< DUE
    server = 1U << 5,      ///< SERVER
    instance = 1U << 6,    ///< INSTANCE
    in_job = 1U << 7,      ///< --job, optional
    in_this_job = 1U << 8, ///< --job, required
    job_filter = 1U << 9,  ///< --contains, --status, --after, --limit
    item_range = 1U << 10, ///< --first, --limit
    file = 1U << 11,       ///< --file
    dropping = 1U << 12,   ///< --drop-schedules
    job_change = 1U << 13, ///< --join, --leave, --items, --labels
    watching = 1U << 14,   ///< --watch, --interval
    interval = 1U << 15,   ///< --interval alone
    waiting = 1U << 16,    ///< --for, --timeout
    may_wait = 1U << 17,   ///< --wait, --for, --timeout
    a_command = 1U << 18,  ///< --dry-run, --operator, --key
    expression = 1U << 19, ///< EXPRESSION, --count
    shell = 1U << 20,      ///< SHELL
    serving = 1U << 21,    ///< --port, --password-file and the other options of a console
};
constexpr takes operator|(takes a, takes b) noexcept {
    return static_cast<takes>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr bool has(takes all, takes one) noexcept {
    return (static_cast<std::uint32_t>(all) & static_cast<std::uint32_t>(one)) != 0;
}

/// The options of `elasticjob console`.
struct console_arguments {
    int port = 8899;
    std::string address = "127.0.0.1", certificate_file{}, key_file{};
    std::string password_file{}, identity_header = "x-remote-user";
    std::string issuer{}, client_id{}, client_secret_file{}, redirect_url{}, ca_file{};
    std::string scope = "openid", name_claim = "sub", groups_claim{};
    std::vector<std::string> host_names{}, proxies{}, grants{};
    std::vector<std::string> registries{};         ///< contexts; none: the registry of the call
    std::vector<std::string> sqlite{}, postgres{}; ///< databases of events, as NAME=WHERE
    bool has_java_interface = false;
};

/// All arguments that a call can have. A command reads those that it takes; the others have these defaults.
struct arguments {
    registry_address address{};
    std::string context{};
    std::string output = "table";
    std::string zone = "UTC";

    std::string operator_name{};
    std::string key{}; ///< of the command; made by the program if the operator gives none
    bool is_key_made = false;
    bool is_dry_run = false, is_confirmed = false;

    std::string job{}, server{}, instance{}, file{}, shell{}, expression{};
    std::uint32_t item = 0;
    std::optional<std::uint32_t> one_item{}; ///< nothing: all items
    std::int64_t due_ms = 0;

    std::string contains{}, status{}, after{};
    std::uint32_t first = 0, limit = 100, count = 5;

    bool drops_schedules = false;
    std::vector<std::string> joining{}, leaving{};
    std::optional<std::uint32_t> item_count{}; ///< nothing: the present number
    std::optional<std::string> labels{};       ///< nothing: the present labels

    bool is_watching = false, is_waiting = false;
    std::string wanted_end = "either";
    std::int64_t interval_ms = 5'000, timeout_ms = 600'000;

    console_arguments console{};

    std::chrono::milliseconds timeout() const noexcept { return std::chrono::milliseconds{timeout_ms}; }
    command_by by() const { return {operator_name, key, is_dry_run}; }
};

} // namespace elasticjob::cli
#endif // ELASTICJOB_COMMAND_LINE_ARGUMENTS_HPP
