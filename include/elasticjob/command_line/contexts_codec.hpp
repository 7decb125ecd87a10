// SPDX-License-Identifier: Apache-2.0
/// \file \brief Reads the file of contexts, which gives names to registries.
#ifndef ELASTICJOB_COMMAND_LINE_CONTEXTS_CODEC_HPP
#define ELASTICJOB_COMMAND_LINE_CONTEXTS_CODEC_HPP

#include <elasticjob/command_line/arguments.hpp>
#include <elasticjob/config/config_file.hpp> // variable_lookup
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob::cli {

using context_map = std::map<std::string, registry_address>;

/// The path of the file: `$XDG_CONFIG_HOME/elasticjob/contexts.json`, or `$HOME/.config/elasticjob/contexts.json`.
std::string contexts_file(variable_lookup find);

/// Parses one object, whose members are the contexts: `{"billing": {"servers": "zk1:2181", "namespace": "billing"}}`. A
/// context may also have a `digest`. Errors: invalid_config, which names the line.
result<context_map> parse_contexts(std::string_view json);

/// Reads the file; a missing file has no contexts. Errors: invalid_argument if it cannot be read, or if it has a digest
/// and users other than its owner may read or write it; those of `parse_contexts`.
result<context_map> read_contexts(std::string const& file);

/// The address of the registry: from the options of the call, or else from the context, or else from
/// ELASTICJOB_SERVERS, ELASTICJOB_NAMESPACE and ELASTICJOB_DIGEST. Errors: invalid_argument if there is no such
/// context; those of `read_contexts`.
result<registry_address> find_address(arguments const& given, variable_lookup find);

/// The address of a registry, and its name in the console.
struct named_address {
    std::string name;
    registry_address address;
};

/// The registries that a console serves: the contexts that `--registry` names, or else the registry of the call, with
/// the name of its context or the name `registry`. Errors: as `find_address`; invalid_argument if both are given.
result<std::vector<named_address>> find_addresses(arguments const& given, variable_lookup find);

} // namespace elasticjob::cli

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/command_line/contexts_codec.ipp>
#endif
#endif // ELASTICJOB_COMMAND_LINE_CONTEXTS_CODEC_HPP
