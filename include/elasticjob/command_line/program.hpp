// SPDX-License-Identifier: Apache-2.0
/// \file \brief The program `elasticjob`: what it understands, what it prints, and its exit code.
#ifndef ELASTICJOB_COMMAND_LINE_PROGRAM_HPP
#define ELASTICJOB_COMMAND_LINE_PROGRAM_HPP

#include <elasticjob/command_line/report.hpp>
#include <elasticjob/config/config_file.hpp>
#include <elasticjob/config/due_times.hpp>
#include <elasticjob/config/instant_text.hpp>
#include <elasticjob/core/version.hpp>
#include <elasticjob/cron/describe.hpp>
#include <elasticjob/cron/system_zone.hpp>
#include <elasticjob/operations/dead_letters.hpp>
#include <elasticjob/operations/dump.hpp>
#include <elasticjob/operations/explain.hpp>
#include <elasticjob/operations/item_overview.hpp>
#include <elasticjob/operations/job_overview.hpp>
#include <elasticjob/operations/job_settings.hpp>
#include <elasticjob/operations/server_overview.hpp>
#include <elasticjob/operations/shut_down.hpp>
#include <elasticjob/operations/switches.hpp>
#include <elasticjob/operations/trigger.hpp>

#include <CLI/CLI.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::cli {

/// What the program ends with. Documented in docs/operations.md: scripts depend on the numbers.
enum class exit_code : int {
    done = 0,
    failed = 1,      ///< for another reason than these
    usage = 2,       ///< the arguments or a configuration cannot be used; nothing was written
    not_found = 3,   ///< there is no such job, item, server or instance
    conflict = 4,    ///< refused because of what is there; nothing was written
    unreachable = 5, ///< the registry has not answered; what a command did is not known: repeat it with its key
    unconfirmed = 6, ///< the command needs --yes
};

/// The exit code for an error.
constexpr exit_code exit_code_of(errc code) noexcept {
    switch (code) {
    case errc::invalid_argument:
    case errc::invalid_path:
    case errc::invalid_cron:
    case errc::cron_never_fires:
    case errc::invalid_config:
    case errc::unknown_strategy:
        return exit_code::usage;
    case errc::no_node:
    case errc::removed:
        return exit_code::not_found;
    case errc::job_conflict:
    case errc::version_conflict:
    case errc::node_exists:
    case errc::not_empty:
    case errc::not_running:
        return exit_code::conflict;
    case errc::unreachable:
    case errc::not_sent:
    case errc::unknown_outcome:
    case errc::session_lost:
    case errc::timed_out:
    case errc::closed:
        return exit_code::unreachable;
    default:
        return exit_code::failed;
    }
}

/// What the program should do next after such an error; empty if the error says it.
constexpr std::string_view advice_for(errc code) noexcept {
    switch (code) {
    case errc::no_node:
        return "see what there is: elasticjob jobs list, or items, servers and instances list";
    case errc::removed:
        return "choose another name, or take the removal back with restore_job";
    case errc::unreachable:
        return "check --servers and --namespace, and that the ZooKeeper servers are up";
    case errc::unknown_outcome:
    case errc::session_lost:
    case errc::timed_out:
        return "a command may have been carried out: look at elasticjob audit list, or repeat it with its --key";
    case errc::version_conflict:
        return "look at the present state, then decide again";
    case errc::no_auth:
        return "give the credentials with --digest";
    default:
        return {};
    }
}

/// Where the registry is.
struct registry_address {
    std::string servers = "127.0.0.1:2181";
    std::string name_space{};
    std::string digest{};
};

/// What the program has printed, and how it ends.
struct printed {
    exit_code code = exit_code::done;
    std::string out{};
    std::string err{};
};

/// The program for one call. `Connect` gives `result<P>` for a `registry_address`, where `*P` is a registry.
template <class Connect>
class program {
public:
    /// `user` is the operator's name unless --operator says otherwise.
    program(Connect connect, std::string user) : connect_{std::move(connect)}, operator_{std::move(user)} {
        describe();
    }
    program(program const&) = delete;
    program& operator=(program const&) = delete;

    /// Once.
    printed run(std::vector<std::string> args) {
        if (auto ended = parse(std::move(args))) return *std::move(ended);
        if (*cron_) return show_cron();
        if (is_changing() && operator_.empty())
            return {exit_code::usage, {}, "elasticjob: nobody knows who you are\nnext: give --operator NAME\n"};
        if (is_drastic() && !is_confirmed_ && !is_dry_run_)
            return {exit_code::unconfirmed,
                    {},
                    "elasticjob: this stops work or removes something, so it needs a confirmation\n"
                    "next: see what it would do with --dry-run, then repeat it with --yes\n"};
        auto connected = connect_(address_);
        if (!connected) return failure(connected.error());
        return dispatch(**connected);
    }

private:
    /// What the program prints if it has nothing to do but that.
    std::optional<printed> parse(std::vector<std::string> args) {
        std::reverse(args.begin(), args.end()); // as CLI11 takes them
#if defined(__cpp_exceptions)
        try {
            app_.parse(args);
        } catch (CLI::CallForHelp const&) {
            return printed{exit_code::done, help()};
        } catch (CLI::CallForVersion const&) {
            return printed{exit_code::done, version_text() + "\n"};
        } catch (CLI::ParseError const& e) {
            return printed{
                exit_code::usage, {}, std::string{"elasticjob: "} + e.what() + "\nnext: elasticjob --help\n"};
        }
#else
#error "the program needs exceptions, because CLI11 reports wrong arguments by them"
#endif
        return std::nullopt;
    }

    static std::string version_text() {
        return std::to_string(ELASTICJOB_VERSION_MAJOR) + "." + std::to_string(ELASTICJOB_VERSION_MINOR) + "." +
               std::to_string(ELASTICJOB_VERSION_PATCH);
    }

    CLI::App* add(CLI::App* parent, char const* name, char const* text) { return parent->add_subcommand(name, text); }
    void describe();
    void takes_job(CLI::App* a) { a->add_option("JOB", job_, "name of the job")->required(); }
    void takes_item(CLI::App* a) {
        takes_job(a);
        a->add_option("ITEM", item_, "number of the item")->required();
    }
    void takes_due(CLI::App* a) {
        takes_item(a);
        auto const check = [](std::string const& text) {
            wall_time due{};
            return detail::read_instant(text, due) ? std::string{} : "no due instant: copy due_ms of the list";
        };
        a->add_option("DUE", due_ms_, "due instant of the run, in milliseconds since 1970, as the list shows it")
            ->required()
            ->check(check);
    }
    void takes_server(CLI::App* a) { a->add_option("SERVER", server_, "address of the server")->required(); }
    void commands(CLI::App* a, bool drastic = false) {
        changing_.push_back(a);
        if (drastic) drastic_.push_back(a);
        a->add_flag("--dry-run", is_dry_run_, "validate, say what would be done, and write nothing");
        a->add_option("--operator", operator_, "your name, for the audit trail");
        a->add_option("--key", key_, "two commands with one key are one command");
        if (drastic) a->add_flag("--yes", is_confirmed_, "do it without asking");
    }

    static bool is_called(std::vector<CLI::App*> const& all) {
        return std::any_of(all.begin(), all.end(), [](CLI::App const* a) { return a->parsed(); });
    }
    bool is_changing() const { return is_called(changing_); }
    bool is_drastic() const { return is_called(drastic_); }
    std::string help() const {
        CLI::App const* called = &app_;
        std::string before; // the names of the commands that it belongs to
        while (!called->get_subcommands().empty()) {
            before += (before.empty() ? "" : " ") + called->get_name();
            called = called->get_subcommands().front();
        }
        return called->help(before);
    }
    command_by by() const { return {operator_, key_, is_dry_run_}; }

    static printed failure(error const& e) {
        printed p{exit_code_of(e.code), {}, "elasticjob: " + to_string(e) + "\n"};
        if (auto const next = advice_for(e.code); !next.empty()) p.err.append("next: ").append(next).append("\n");
        return p;
    }
    printed show(report const& r) const { return {exit_code::done, is_json() ? to_json(r) : to_table(r)}; }
    bool is_json() const { return output_ == "json"; }

    printed show(result<command_result> const& done) const {
        if (!done) return failure(done.error());
        if (!is_json()) return {exit_code::done, std::string{name_of(done->what)} + ": " + done->text + "\n"};
        return show(report{{"effect", "text", "key"}, {{name_of(done->what), done->text, done->key}}});
    }
    printed show(result<std::vector<command_in_job>> const& all) const {
        if (!all) return failure(all.error());
        report r{{"job", "effect", "text"}};
        auto code = exit_code::done;
        std::string err;
        for (auto const& one : *all) {
            if (one.outcome) {
                r.rows.push_back({one.job, name_of(one.outcome->what), one.outcome->text});
            } else {
                r.rows.push_back({one.job, "refused", to_string(one.outcome.error())});
                if (code == exit_code::done) code = exit_code_of(one.outcome.error().code);
                err = "elasticjob: not done in every job\nnext: see the reasons above, then repeat the command\n";
            }
        }
        auto p = show(r);
        p.code = code;
        p.err = std::move(err);
        return p;
    }

    static std::string text_of(std::optional<wall_time> const& t) { return t ? detail::utc_text(*t) : std::string{}; }

    template <registry Registry>
    printed dispatch(Registry& r);
    template <registry Registry>
    printed list_jobs_of(Registry& r);
    template <registry Registry>
    printed list_items_of(Registry& r);
    template <registry Registry>
    printed apply(Registry& r);
    printed show_cron() const;

    Connect connect_;
    registry_address address_{};
    std::string operator_, output_ = "table", key_, job_, server_, instance_, file_, contains_, status_, after_,
                           expression_;
    std::uint32_t item_ = 0, count_ = 5, first_ = 0, limit_ = 100;
    std::int64_t due_ms_ = 0;
    bool is_dry_run_ = false, is_confirmed_ = false, drops_schedules_ = false;
    std::vector<CLI::App*> changing_{}, drastic_{};
    CLI::App app_{"Looks at the jobs of a registry, and commands them.", "elasticjob"};
    CLI::App *jobs_list_{}, *jobs_show_{}, *jobs_trigger_{}, *jobs_disable_{}, *jobs_enable_{}, *jobs_shut_down_{},
        *jobs_apply_{};
    CLI::App *items_list_{}, *items_explain_{}, *items_trigger_{}, *items_disable_{}, *items_enable_{};
    CLI::App *servers_list_{}, *servers_show_{}, *servers_trigger_{}, *servers_disable_{}, *servers_enable_{},
        *servers_shut_down_{}, *servers_remove_{};
    CLI::App *instances_list_{}, *instances_shut_down_{}, *runs_list_{};
    CLI::App *letters_list_{}, *letters_again_{}, *letters_discard_{};
    CLI::App *audit_list_{}, *cron_{}, *dump_{};
};

template <class Connect>
void program<Connect>::describe() {
    app_.require_subcommand(1);
    app_.set_version_flag("--version", version_text());
    app_.fallthrough();
    app_.add_option("--servers", address_.servers, "ZooKeeper servers, host:port separated by commas")
        ->envname("ELASTICJOB_SERVERS")
        ->capture_default_str();
    app_.add_option("--namespace", address_.name_space, "name space of the jobs")->envname("ELASTICJOB_NAMESPACE");
    app_.add_option("--digest", address_.digest, "user:password; better in the environment, where ps does not show it")
        ->envname("ELASTICJOB_DIGEST");
    app_.add_option("--output", output_, "table for people, json for programs")
        ->check(CLI::IsMember({"table", "json"}))
        ->capture_default_str();
    app_.footer(
        "Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 conflict, 5 registry unreachable, 6 needs --yes.\n"
        "Manual: docs/operations.md");
    auto const group = [&](char const* name, char const* text) {
        auto* const a = add(&app_, name, text);
        a->require_subcommand(1);
        a->fallthrough();
        return a;
    };
    auto const verb = [&](CLI::App* parent, char const* name, char const* text) {
        auto* const a = add(parent, name, text);
        a->fallthrough();
        return a;
    };

    auto* const jobs = group("jobs", "jobs");
    jobs_list_ = verb(jobs, "list", "a page of the jobs");
    jobs_list_->add_option("--contains", contains_, "only names with this text");
    jobs_list_->add_option("--status", status_, "only this status")
        ->check(CLI::IsMember({"CRASHED", "DISABLED", "SHARDING_FLAG", "OK"}));
    jobs_list_->add_option("--after", after_, "the page behind this name");
    jobs_list_->add_option("--limit", limit_, "jobs on a page")->check(CLI::Range(1, 10'000))->capture_default_str();
    jobs_show_ = verb(jobs, "show", "the configuration of a job that Java members share, as JSON");
    jobs_trigger_ = verb(jobs, "trigger", "have every item run once, now");
    jobs_disable_ = verb(jobs, "disable", "disable all servers of a job");
    jobs_enable_ = verb(jobs, "enable", "enable all servers of a job");
    jobs_shut_down_ = verb(jobs, "shut-down", "have all instances leave a job");
    for (auto* a : {jobs_show_, jobs_trigger_, jobs_disable_, jobs_enable_, jobs_shut_down_}) takes_job(a);
    jobs_apply_ = verb(jobs, "apply", "change the configuration of a job, or add the job");
    jobs_apply_->add_option("-f,--file", file_, "the configuration, JSON")->required();
    jobs_apply_->add_flag("--drop-schedules", drops_schedules_,
                          "remove the schedules, time zone and labels that the file does not have");

    auto* const items = group("items", "items of a job");
    items_list_ = verb(items, "list", "a page of the items");
    takes_job(items_list_);
    items_list_->add_option("--first", first_, "begin with this item");
    items_list_->add_option("--limit", limit_, "items on a page")->check(CLI::Range(1, 10'000))->capture_default_str();
    items_explain_ = verb(items, "explain", "why an item ran, or did not run");
    items_trigger_ = verb(items, "trigger", "have an item run once, now");
    items_disable_ = verb(items, "disable", "disable an item");
    items_enable_ = verb(items, "enable", "enable an item");
    for (auto* a : {items_explain_, items_trigger_, items_disable_, items_enable_}) takes_item(a);

    auto* const servers = group("servers", "servers");
    servers_list_ = verb(servers, "list", "all servers");
    servers_show_ = verb(servers, "show", "one server in each of its jobs");
    servers_trigger_ = verb(servers, "trigger", "have the items of a server run once, now");
    servers_disable_ = verb(servers, "disable", "disable a server");
    servers_enable_ = verb(servers, "enable", "enable a server");
    servers_shut_down_ = verb(servers, "shut-down", "have the instances of a server leave");
    servers_remove_ = verb(servers, "remove", "remove a server that has no instance any more");
    for (auto* a :
         {servers_show_, servers_trigger_, servers_disable_, servers_enable_, servers_shut_down_, servers_remove_})
        takes_server(a);
    servers_trigger_->add_option("--job", job_, "in this job")->required();
    for (auto* a : {servers_disable_, servers_enable_, servers_shut_down_, servers_remove_})
        a->add_option("--job", job_, "in this job only");

    auto* const instances = group("instances", "instances of a job");
    instances_list_ = verb(instances, "list", "the instances of a job");
    instances_shut_down_ = verb(instances, "shut-down", "have an instance leave its job");
    for (auto* a : {instances_list_, instances_shut_down_}) takes_job(a);
    instances_shut_down_->add_option("INSTANCE", instance_, "id of the instance")->required();

    runs_list_ = verb(group("runs", "runs of an item"), "list", "what became of the last due instants");
    takes_item(runs_list_);

    auto* const letters = group("dead-letters", "runs that failed for good");
    letters_list_ = verb(letters, "list", "the dead letters of a job");
    takes_job(letters_list_);
    letters_again_ = verb(letters, "run-again", "have a dead letter run again");
    letters_discard_ = verb(letters, "discard", "throw a dead letter away");
    letters_discard_->add_flag("--yes", is_confirmed_, "do it without asking");
    drastic_.push_back(letters_discard_);
    for (auto* a : {letters_again_, letters_discard_}) takes_due(a);

    audit_list_ = verb(group("audit", "commands that were given for a job"), "list", "the last commands");
    takes_job(audit_list_);
    cron_ = verb(&app_, "cron", "a cron expression in words, and when it is due next; needs no registry");
    cron_->add_option("EXPRESSION", expression_, "in quotes")->required();
    cron_->add_option("--count", count_, "due instants to show")->check(CLI::Range(1, 1'000))->capture_default_str();
    dump_ = verb(&app_, "dump", "all nodes of a job, with addresses masked");
    takes_job(dump_);

    for (auto* a : {jobs_trigger_, jobs_enable_, jobs_apply_, items_trigger_, items_disable_, items_enable_,
                    servers_trigger_, servers_enable_})
        commands(a);
    for (auto* a :
         {jobs_disable_, jobs_shut_down_, servers_disable_, servers_shut_down_, servers_remove_, instances_shut_down_})
        commands(a, true);
}

template <class Connect>
template <registry Registry>
printed program<Connect>::dispatch(Registry& r) {
    auto const letter = wall_time{std::chrono::milliseconds{due_ms_}};
    if (*jobs_list_) return list_jobs_of(r);
    if (*items_list_) return list_items_of(r);
    if (*jobs_apply_) return apply(r);
    if (*jobs_trigger_) return show(trigger_job(r, job_, by()));
    if (*jobs_disable_) return show(switch_job(r, job_, switched::off, by()));
    if (*jobs_enable_) return show(switch_job(r, job_, switched::on, by()));
    if (*jobs_shut_down_) return show(shut_down_job(r, job_, by()));
    if (*items_trigger_) return show(trigger_item(r, job_, item_, by()));
    if (*items_disable_) return show(switch_item(r, job_, item_, switched::off, by()));
    if (*items_enable_) return show(switch_item(r, job_, item_, switched::on, by()));
    if (*servers_trigger_) return show(trigger_server(r, job_, server_, by()));
    if (*servers_disable_ || *servers_enable_) {
        auto const to = *servers_enable_ ? switched::on : switched::off;
        if (job_.empty()) return show(switch_server_everywhere(r, server_, to, by()));
        return show(switch_server(r, job_, server_, to, by()));
    }
    if (*servers_shut_down_ && job_.empty()) return show(shut_down_server_everywhere(r, server_, by()));
    if (*servers_shut_down_) return show(shut_down_server(r, job_, server_, by()));
    if (*servers_remove_ && job_.empty()) return show(remove_server_everywhere(r, server_, by()));
    if (*servers_remove_) return show(remove_server(r, job_, server_, by()));
    if (*instances_shut_down_) return show(shut_down_instance(r, job_, instance_, by()));
    if (*letters_again_ || *letters_discard_) {
        auto const done = *letters_again_ ? run_again(r, job_, item_, letter) : discard(r, job_, item_, letter);
        return done ? printed{exit_code::done, "done\n"} : failure(done.error());
    }
    if (*jobs_show_) {
        auto const found = read_settings(r, job_);
        return found ? printed{exit_code::done, elasticjob::to_json(found->config) + "\n"} : failure(found.error());
    }
    if (*items_explain_) {
        auto const e = explain(r, job_, item_);
        return e ? printed{exit_code::done, e->text + "\n"} : failure(e.error());
    }
    if (*dump_) {
        auto const lines = dump(r, job_);
        return lines ? printed{exit_code::done, dump_text(*lines)} : failure(lines.error());
    }

    report table;
    if (*servers_list_) {
        auto const all = list_servers(r);
        if (!all) return failure(all.error());
        table.columns = {"server", "instances", "jobs", "disabled_in", "idle_in"};
        for (auto const& s : *all)
            table.rows.push_back({s.server, s.instances.size(), s.jobs.size(), s.disabled_jobs, s.idle_jobs});
    } else if (*servers_show_) {
        auto const all = describe_server(r, server_);
        if (!all) return failure(all.error());
        table.columns = {"job", "disabled", "instances"};
        for (auto const& s : *all) table.rows.push_back({s.job, s.is_disabled, s.instances});
    } else if (*instances_list_) {
        auto const all = list_instances(r, job_);
        if (!all) return failure(all.error());
        table.columns = {"instance", "items", "leader", "disabled", "java", "weight", "labels"};
        for (auto const& i : *all)
            table.rows.push_back({i.id, i.item_count, i.is_leader, i.is_disabled, i.is_java, i.weight, i.labels});
    } else if (*runs_list_) {
        auto const e = explain(r, job_, item_);
        if (!e) return failure(e.error());
        table.columns = {"due", "outcome", "instance", "attempt", "begun", "ended", "count", "note"};
        for (auto const& run : e->record.ledger)
            table.rows.push_back({detail::utc_text(run.run.due), name_of(run.outcome), run.run.instance,
                                  run.run.attempt, detail::utc_text(run.run.begun), detail::utc_text(run.ended),
                                  run.count, run.note});
    } else if (*letters_list_) {
        auto const all = list_dead_letters(r, job_);
        if (!all) return failure(all.error());
        table.columns = {"item", "due_ms", "due", "attempt", "instance", "ended", "note"};
        for (auto const& l : *all)
            table.rows.push_back(
                {l.item, std::chrono::floor<std::chrono::milliseconds>(l.run.run.due).time_since_epoch().count(),
                 detail::utc_text(l.run.run.due), l.run.run.attempt, l.run.run.instance, detail::utc_text(l.run.ended),
                 l.run.note});
    } else {
        auto const trail = list_commands(r, job_);
        if (!trail) return failure(trail.error());
        table.columns = {"number", "at", "operator", "verb", "subject", "outcome", "note", "key"};
        for (auto const& c : trail->entries())
            table.rows.push_back({c.number, detail::utc_text(c.at), c.operator_name, c.verb, c.subject,
                                  name_of(c.outcome), c.note, c.key});
    }
    return show(table);
}

template <class Connect>
template <registry Registry>
printed program<Connect>::list_jobs_of(Registry& r) {
    job_query query{.name_contains = contains_, .after = after_, .jobs_max = limit_};
    for (auto const s :
         {console_status::crashed, console_status::disabled, console_status::sharding_flag, console_status::ok})
        if (status_ == name_of(s)) query.status = s;
    auto const page = list_jobs(r, std::move(query));
    if (!page) return failure(page.error());
    report table{{"job", "status", "health", "items", "instances", "cron", "description"}};
    for (auto const& j : page->jobs)
        table.rows.push_back({j.name, name_of(j.status), name_of(j.health), j.item_count, j.instance_count, j.cron,
                              j.fault ? to_string(*j.fault) : j.description});
    auto p = show(table);
    if (!page->next.empty()) p.err = "next: more jobs with --after " + page->next + "\n";
    return p;
}

template <class Connect>
template <registry Registry>
printed program<Connect>::list_items_of(Registry& r) {
    auto const page = list_items(r, job_, {.first = first_, .items_max = limit_});
    if (!page) return failure(page.error());
    report table{{"item", "status", "health", "owner", "runs_since", "last_outcome", "next_due", "dead_letters"}};
    for (auto const& i : page->items)
        table.rows.push_back({i.item, name_of(i.status), name_of(i.health), i.owner,
                              i.running ? detail::utc_text(i.running->begun) : std::string{},
                              i.last ? std::string{name_of(i.last->outcome)} : std::string{}, text_of(i.next_due),
                              i.dead_letters});
    auto p = show(table);
    if (page->next) p.err = "next: more items with --first " + std::to_string(*page->next) + "\n";
    return p;
}

template <class Connect>
template <registry Registry>
printed program<Connect>::apply(Registry& r) {
    auto config = read_job_config(file_);
    if (!config) return failure(config.error());
    settings_change change{*std::move(config), {}, true};
    auto const stored = read_settings(r, change.config.name);
    auto const has_more = [](job_config const& c) { return !to_schedule_text(c).empty() || !c.item_labels.empty(); };
    if (stored && has_more(stored->config) && !has_more(change.config) && !drops_schedules_)
        return {exit_code::conflict,
                {},
                "elasticjob: the job has schedules, a time zone or labels, and the file has none of them\n"
                "next: add them to the file, or give --drop-schedules to remove them\n"};
    if (stored) change.expected = stored->tag;
    return show(change_settings(r, std::move(change), by()));
}

template <class Connect>
printed program<Connect>::show_cron() const {
    auto const words = describe_cron(expression_);
    if (!words) return failure(words.error());
    auto const zone = SystemZone::load();
    if (!zone) return failure(zone.error());
    auto const due = preview({.name = "cron", .cron = expression_}, std::chrono::system_clock::now(), count_, *zone);
    if (!due) return failure(due.error());
    report table{{"due", "expression"}};
    for (auto const t : *due) table.rows.push_back({detail::utc_text(t), *words});
    if (is_json()) return show(table);
    printed p{exit_code::done, *words + "\n"};
    for (auto const t : *due) p.out += detail::utc_text(t) + "\n";
    return p;
}

} // namespace elasticjob::cli
#endif // ELASTICJOB_COMMAND_LINE_PROGRAM_HPP
