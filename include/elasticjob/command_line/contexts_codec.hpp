// SPDX-License-Identifier: Apache-2.0
/// \file \brief Registries under names of the operator's own: the file of contexts.
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

using contexts = std::map<std::string, registry_address>;

/// `$XDG_CONFIG_HOME/elasticjob/contexts.json`, or `$HOME/.config/elasticjob/contexts.json`.
std::string contexts_file(variable_lookup find);

/// One object, whose members are the contexts: `{"billing": {"servers": "zk1:2181", "namespace": "billing"}}`. A
/// context may have a `digest`, too. Errors: invalid_config, with the line.
result<contexts> parse_contexts(std::string_view json);

/// A file that is not there has no contexts. Errors: invalid_argument if it cannot be read, or if it has a digest and
/// others than its owner may read or write it; those of `parse_contexts`.
result<contexts> read_contexts(std::string const& file);

/// Where the registry is: by the options of the call, otherwise by the context, otherwise by ELASTICJOB_SERVERS,
/// ELASTICJOB_NAMESPACE and ELASTICJOB_DIGEST. Errors: invalid_argument if there is no such context; those of
/// `read_contexts`.
result<registry_address> find_address(arguments const& said, variable_lookup find);

/// A registry under the name that readers of the console see.
struct named_address {
    std::string name;
    registry_address address;
};

/// The registries that a console serves: the contexts that `--registry` names, or else the registry of the call, under
/// the name of its context, or as `registry`. Errors: as `find_address`; invalid_argument if both are given.
result<std::vector<named_address>> find_addresses(arguments const& said, variable_lookup find);

} // namespace elasticjob::cli

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/command_line/contexts_codec.ipp>
#endif
#endif // ELASTICJOB_COMMAND_LINE_CONTEXTS_CODEC_HPP
