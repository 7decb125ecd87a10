// SPDX-License-Identifier: Apache-2.0
/// \file \brief The compiled form of what the program `elasticjob` needs beyond `src.hpp`. One file of a program that
/// includes <elasticjob/command_line/program.hpp> includes this, `src_console.hpp` and `src_http.hpp`. It needs CLI11.
#ifndef ELASTICJOB_SRC_COMMAND_LINE_HPP
#define ELASTICJOB_SRC_COMMAND_LINE_HPP

#if !defined(ELASTICJOB_COMPILED)
#error "define ELASTICJOB_COMPILED for the whole program: without it, every file contains these definitions already"
#endif

#include <elasticjob/impl/command_line/answer.ipp>
#include <elasticjob/impl/command_line/change_feed.ipp>
#include <elasticjob/impl/command_line/command_tree.ipp>
#include <elasticjob/impl/command_line/contexts_codec.ipp>
#include <elasticjob/impl/command_line/item_commands.ipp>
#include <elasticjob/impl/command_line/job_commands.ipp>
#include <elasticjob/impl/command_line/local_commands.ipp>
#include <elasticjob/impl/command_line/program.ipp>
#include <elasticjob/impl/command_line/report.ipp>
#include <elasticjob/impl/command_line/run_end.ipp>
#include <elasticjob/impl/command_line/serve_console.ipp>
#include <elasticjob/impl/command_line/server_commands.ipp>
#include <elasticjob/impl/command_line/terminal.ipp>
#include <elasticjob/impl/command_line/top.ipp>
#include <elasticjob/impl/command_line/tree_commands.ipp>

namespace elasticjob::cli {
template class program_on<event_loop>;
} // namespace elasticjob::cli

#endif // ELASTICJOB_SRC_COMMAND_LINE_HPP
