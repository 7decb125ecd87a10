// SPDX-License-Identifier: Apache-2.0
/// \file \brief The compiled form of elasticjob::core. One file of the program includes this, and all of them are compiled
/// with ELASTICJOB_COMPILED defined. The CMake target elasticjob::compiled_core does both.
#ifndef ELASTICJOB_SRC_HPP
#define ELASTICJOB_SRC_HPP

#if !defined(ELASTICJOB_COMPILED)
#error "define ELASTICJOB_COMPILED for the whole program: without it, every file contains these definitions already"
#endif

#include <elasticjob/config/config_file.hpp>
#include <elasticjob/core/stop_signals.hpp>
#include <elasticjob/cron/describe.hpp>
#include <elasticjob/scheduler/instances.hpp>
#include <elasticjob/testing/simulation.hpp>

#include <elasticjob/impl/allocation/label.ipp>
#include <elasticjob/impl/allocation/label_flow.ipp>
#include <elasticjob/impl/allocation/previous.ipp>
#include <elasticjob/impl/allocation/rendezvous.ipp>
#include <elasticjob/impl/allocation/spread.ipp>
#include <elasticjob/impl/config/due_times.ipp>
#include <elasticjob/impl/config/config_file.ipp>
#include <elasticjob/impl/config/fields.ipp>
#include <elasticjob/impl/config/followed_rounds.ipp>
#include <elasticjob/impl/config/instant_text.ipp>
#include <elasticjob/impl/config/item_labels.ipp>
#include <elasticjob/impl/config/item_parameters.ipp>
#include <elasticjob/impl/config/job_config.ipp>
#include <elasticjob/impl/config/job_schedule.ipp>
#include <elasticjob/impl/config/json_codec.ipp>
#include <elasticjob/impl/config/json_text.ipp>
#include <elasticjob/impl/config/json_writer.ipp>
#include <elasticjob/impl/config/read_timetable.ipp>
#include <elasticjob/impl/config/retry_policy.ipp>
#include <elasticjob/impl/config/schedule_text.ipp>
#include <elasticjob/impl/config/stored_config.ipp>
#include <elasticjob/impl/config/task_id.ipp>
#include <elasticjob/impl/config/task_id_parser.ipp>
#include <elasticjob/impl/config/text.ipp>
#include <elasticjob/impl/config/validation.ipp>
#include <elasticjob/impl/core/clock.ipp>
#include <elasticjob/impl/core/error.ipp>
#include <elasticjob/impl/core/event_loop.ipp>
#include <elasticjob/impl/core/identity.ipp>
#include <elasticjob/impl/core/line_text.ipp>
#include <elasticjob/impl/core/path.ipp>
#include <elasticjob/impl/core/random.ipp>
#include <elasticjob/impl/core/stop_signals.ipp>
#include <elasticjob/impl/core/timer_queue.ipp>
#include <elasticjob/impl/core/virtual_loop.ipp>
#include <elasticjob/impl/core/worker_pool.ipp>
#include <elasticjob/impl/cron/describe.ipp>
#include <elasticjob/impl/cron/expression.ipp>
#include <elasticjob/impl/cron/quartz_text.ipp>
#include <elasticjob/impl/cron/system_zone.ipp>
#include <elasticjob/impl/cron/timetable.ipp>
#include <elasticjob/impl/cron/tzif.ipp>
#include <elasticjob/impl/cron/tzif_zone.ipp>
#include <elasticjob/impl/cron/zone_ref.ipp>
#include <elasticjob/impl/cron/value_list.ipp>
#include <elasticjob/impl/election/election.ipp>
#include <elasticjob/impl/election/elector.ipp>
#include <elasticjob/impl/events/event_database.ipp>
#include <elasticjob/impl/events/event_history.ipp>
#include <elasticjob/impl/events/histogram.ipp>
#include <elasticjob/impl/events/kept_event.ipp>
#include <elasticjob/impl/events/line_events.ipp>
#include <elasticjob/impl/events/log_events.ipp>
#include <elasticjob/impl/events/metrics_events.ipp>
#include <elasticjob/impl/events/openmetrics.ipp>
#include <elasticjob/impl/events/registry_metrics.ipp>
#include <elasticjob/impl/events/ring_events.ipp>
#include <elasticjob/impl/events/text_forms.ipp>
#include <elasticjob/impl/events/trace.ipp>
#include <elasticjob/impl/execution/after_run.ipp>
#include <elasticjob/impl/execution/become_program.ipp>
#include <elasticjob/impl/execution/child_process.ipp>
#include <elasticjob/impl/execution/clock_check.ipp>
#include <elasticjob/impl/execution/command_line.ipp>
#include <elasticjob/impl/execution/dead_man_timer.ipp>
#include <elasticjob/impl/execution/dealt_items.ipp>
#include <elasticjob/impl/execution/descriptor.ipp>
#include <elasticjob/impl/execution/error_handlers.ipp>
#include <elasticjob/impl/execution/find_program.ipp>
#include <elasticjob/impl/execution/http_context.ipp>
#include <elasticjob/impl/execution/http_url.ipp>
#include <elasticjob/impl/execution/item_counts.ipp>
#include <elasticjob/impl/execution/item_life.ipp>
#include <elasticjob/impl/execution/job_pauses.ipp>
#include <elasticjob/impl/execution/lost_java_runs.ipp>
#include <elasticjob/impl/execution/misfire.ipp>
#include <elasticjob/impl/execution/output_lines.ipp>
#include <elasticjob/impl/execution/progress_mailbox.ipp>
#include <elasticjob/impl/execution/round_ends.ipp>
#include <elasticjob/impl/execution/round_life.ipp>
#include <elasticjob/impl/execution/run_book.ipp>
#include <elasticjob/impl/execution/run_choice.ipp>
#include <elasticjob/impl/execution/run_record.ipp>
#include <elasticjob/impl/execution/run_transactions.ipp>
#include <elasticjob/impl/execution/script.ipp>
#include <elasticjob/impl/execution/script_context.ipp>
#include <elasticjob/impl/execution/sharding_context.ipp>
#include <elasticjob/impl/execution/stop_reason.ipp>
#include <elasticjob/impl/execution/stop_request.ipp>
#include <elasticjob/impl/execution/token_bucket.ipp>
#include <elasticjob/impl/membership/change_pauses.ipp>
#include <elasticjob/impl/membership/enroll.ipp>
#include <elasticjob/impl/membership/old_servers.ipp>
#include <elasticjob/impl/membership/server_ip.ipp>
#include <elasticjob/impl/membership/stand_ins.ipp>
#include <elasticjob/impl/membership/stored_job.ipp>
#include <elasticjob/impl/membership/traits.ipp>
#include <elasticjob/impl/operations/address_mask.ipp>
#include <elasticjob/impl/operations/audit_trail.ipp>
#include <elasticjob/impl/operations/command.ipp>
#include <elasticjob/impl/operations/dead_letter_query.ipp>
#include <elasticjob/impl/operations/dead_letters.ipp>
#include <elasticjob/impl/operations/dump.ipp>
#include <elasticjob/impl/operations/dump_port.ipp>
#include <elasticjob/impl/operations/explain.ipp>
#include <elasticjob/impl/operations/history.ipp>
#include <elasticjob/impl/operations/item_overview.ipp>
#include <elasticjob/impl/operations/job_overview.ipp>
#include <elasticjob/impl/operations/job_settings.ipp>
#include <elasticjob/impl/operations/line_server.ipp>
#include <elasticjob/impl/operations/plan.ipp>
#include <elasticjob/impl/operations/remove_job.ipp>
#include <elasticjob/impl/operations/server_overview.ipp>
#include <elasticjob/impl/operations/switches.ipp>
#include <elasticjob/impl/operations/trigger.ipp>
#include <elasticjob/impl/registry/abandoned_nodes.ipp>
#include <elasticjob/impl/registry/catch_up.ipp>
#include <elasticjob/impl/registry/memory/node_tree.ipp>
#include <elasticjob/impl/registry/transaction.ipp>
#include <elasticjob/impl/scheduler/calling_threads.ipp>
#include <elasticjob/impl/sharding/assignment.ipp>
#include <elasticjob/impl/sharding/interrupted_items.ipp>
#include <elasticjob/impl/sharding/item_claim.ipp>
#include <elasticjob/impl/sharding/item_nodes.ipp>
#include <elasticjob/impl/sharding/job_traits.ipp>
#include <elasticjob/impl/sharding/leave.ipp>
#include <elasticjob/impl/sharding/strategy_name.ipp>
#include <elasticjob/impl/testing/body_fiber.ipp>
#include <elasticjob/impl/testing/check_all.ipp>
#include <elasticjob/impl/testing/explore.ipp>
#include <elasticjob/impl/testing/fault_plan.ipp>
#include <elasticjob/impl/testing/invariants.ipp>
#include <elasticjob/impl/testing/node_loop.ipp>
#include <elasticjob/impl/testing/observation.ipp>
#include <elasticjob/impl/testing/observatory.ipp>
#include <elasticjob/impl/testing/record_invariants.ipp>
#include <elasticjob/impl/testing/simulated_cluster.ipp>
#include <elasticjob/impl/testing/simulated_registry.ipp>
#include <elasticjob/impl/testing/simulated_scheduler.ipp>
#include <elasticjob/impl/testing/simulated_server.ipp>
#include <elasticjob/impl/testing/simulated_workers.ipp>
#include <elasticjob/impl/testing/tree_history.ipp>

namespace elasticjob {
template class basic_memory_server<event_loop>;
template class basic_memory_registry<event_loop>;
ELASTICJOB_REGISTRY_INSTANCES(, MemoryRegistry);
ELASTICJOB_SCHEDULER_INSTANCES(, MemoryRegistry);
ELASTICJOB_SIMULATION_INSTANCES();
} // namespace elasticjob

#endif // ELASTICJOB_SRC_HPP
