// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_COMMAND_LINE_CONTEXTS_CODEC_IPP
#define ELASTICJOB_IMPL_COMMAND_LINE_CONTEXTS_CODEC_IPP

#include <elasticjob/command_line/contexts_codec.hpp>
#include <elasticjob/config/json_text.hpp>
#include <elasticjob/core/algorithm.hpp>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include <sys/stat.h>

namespace elasticjob::cli {

namespace detail {

inline constexpr std::size_t contexts_bytes_max = std::size_t{1} << 20;

/// Reads an object of objects of strings. Anything else is a problem.
class contexts_listener : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, contexts_listener> {
public:
    bool Default() { return refuse("a context is an object of strings"); }
    bool StartObject() { return ++depth_ <= 2 || Default(); }
    bool EndObject(rapidjson::SizeType) {
        --depth_;
        return true;
    }
    bool Key(char const* text, rapidjson::SizeType length, bool) {
        if (depth_ == 2) {
            key_.assign(text, length);
            return true;
        }
        auto const [at, is_new] = all_.try_emplace(std::string{text, length});
        context_ = &at->second;
        return is_new || refuse("there are two contexts of that name: " + at->first);
    }
    bool String(char const* text, rapidjson::SizeType length, bool) {
        if (depth_ != 2) return Default();
        for (auto const& [name, member] :
             {std::pair{"servers", &registry_address::servers}, std::pair{"namespace", &registry_address::name_space},
              std::pair{"digest", &registry_address::digest}})
            if (key_ == name) {
                (context_->*member).assign(text, length);
                return true;
            }
        return refuse("a context has servers, namespace and digest, but no " + key_);
    }

    std::string const& problem() const noexcept { return problem_; }
    context_map take() && { return std::move(all_); }

private:
    bool refuse(std::string why) {
        problem_ = std::move(why);
        return false;
    }

    context_map all_{};
    registry_address* context_ = nullptr;
    std::string key_{}, problem_{};
    int depth_ = 0;
};

} // namespace detail

inline constexpr char const* default_servers = "127.0.0.1:2181";

ELASTICJOB_DECL std::string contexts_file(variable_lookup find) {
    auto const given = find("XDG_CONFIG_HOME");
    auto const home = find("HOME");
    auto const directory = given && !given->empty() ? *given : home.value_or("") + "/.config";
    return directory + "/elasticjob/contexts.json";
}

ELASTICJOB_DECL result<context_map> parse_contexts(std::string_view json) {
    elasticjob::detail::json_text text{json};
    auto const wrong = [&](std::string what, std::size_t at) {
        return error{errc::invalid_config, std::move(what), "line " + std::to_string(text.line_at(at))};
    };
    if (json.find('\0') != json.npos) return wrong("the contexts must not contain NUL", json.find('\0'));
    detail::contexts_listener listener;
    auto const parsed = text.read(listener);
    if (!listener.problem().empty()) return wrong(listener.problem(), parsed.Offset());
    if (!parsed) return wrong(rapidjson::GetParseError_En(parsed.Code()), parsed.Offset());
    return std::move(listener).take();
}

ELASTICJOB_DECL result<context_map> read_contexts(std::string const& file) {
    struct closer {
        void operator()(std::FILE* f) const noexcept { std::fclose(f); }
    };
    std::unique_ptr<std::FILE, closer> const f{std::fopen(file.c_str(), "rbe")};
    if (!f && (errno == ENOENT || errno == ENOTDIR)) return context_map{};
    auto const cannot = [&] {
        return error{errc::invalid_argument, std::string{"the contexts cannot be read: "} + std::strerror(errno), file};
    };
    struct ::stat about {};
    if (!f || ::fstat(::fileno(f.get()), &about) != 0) return cannot();
    std::string text(detail::contexts_bytes_max + 1, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), f.get()));
    if (std::ferror(f.get())) return cannot();
    if (text.size() > detail::contexts_bytes_max)
        return error{errc::invalid_argument, "a file of contexts has at most 1 MiB", file};
    auto all = parse_contexts(text);
    if (!all) {
        all.error().where = file + ", " + all.error().where;
        return std::move(all).error();
    }
    bool const has_secret =
        std::any_of(all->begin(), all->end(), [](auto const& c) { return !c.second.digest.empty(); });
    if (has_secret && (about.st_mode & 077) != 0)
        return error{errc::invalid_argument, "others may read the digest in it: chmod 600", file};
    return all;
}

inline result<registry_address> find_context(std::string const& name, variable_lookup find) {
    auto const file = contexts_file(find);
    ELASTICJOB_TRY(auto const all, read_contexts(file));
    auto const there = all.find(name);
    if (there == all.end())
        return error{errc::invalid_argument, "there is no context " + name + ": see elasticjob contexts list", file};
    auto found = there->second;
    if (found.servers.empty()) found.servers = default_servers;
    return found;
}

/// The name of the context of a call; empty: none.
inline std::string context_of(arguments const& given, variable_lookup find) {
    return given.context.empty() ? find("ELASTICJOB_CONTEXT").value_or("") : given.context;
}

ELASTICJOB_DECL result<registry_address> find_address(arguments const& given, variable_lookup find) {
    registry_address context;
    auto const name = context_of(given, find);
    if (!name.empty()) {
        ELASTICJOB_TRY(context, find_context(name, find));
    }
    auto const first = [&](std::string const& option, std::string const& of_context, char const* variable) {
        if (!option.empty()) return option;
        return name.empty() ? find(variable).value_or("") : of_context;
    };
    registry_address found{first(given.address.servers, context.servers, "ELASTICJOB_SERVERS"),
                           first(given.address.name_space, context.name_space, "ELASTICJOB_NAMESPACE"),
                           first(given.address.digest, context.digest, "ELASTICJOB_DIGEST")};
    if (found.servers.empty()) found.servers = default_servers;
    return found;
}

ELASTICJOB_DECL result<std::vector<named_address>> find_addresses(arguments const& given, variable_lookup find) {
    std::vector<named_address> all;
    auto const& names = given.console.registries;
    if (names.empty()) {
        auto const name = context_of(given, find);
        ELASTICJOB_TRY(auto address, find_address(given, find));
        all.push_back({name.empty() ? "registry" : name, std::move(address)});
        return all;
    }
    auto const& a = given.address;
    if (!given.context.empty() || !a.servers.empty() || !a.name_space.empty() || !a.digest.empty())
        return error{
            errc::invalid_argument,
            "each registry is a context of its own, so no other option says where one is: leave out --servers, "
            "--namespace, --digest and --context",
            "--registry"};
    for (auto const& name : names) {
        ELASTICJOB_TRY(auto address, find_context(name, find));
        all.push_back({name, std::move(address)});
    }
    return all;
}

} // namespace elasticjob::cli
#endif // ELASTICJOB_IMPL_COMMAND_LINE_CONTEXTS_CODEC_IPP
