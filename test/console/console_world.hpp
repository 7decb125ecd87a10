// SPDX-License-Identifier: Apache-2.0
/// \file \brief The console's interface over a cluster in virtual time. Only console_world.cpp knows its type, because it takes
/// long to compile.
#ifndef ELASTICJOB_TEST_CONSOLE_CONSOLE_WORLD_HPP
#define ELASTICJOB_TEST_CONSOLE_CONSOLE_WORLD_HPP

#include <console/routes.hpp>

#include <elasticjob/console/call.hpp>
#include <elasticjob/console/options.hpp>

#include <support/cluster.hpp>

#include <rapidjson/document.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::test {

/// An answer, read.
struct told {
    int status = 0;
    std::string type{}, body{};
    detail::text_pairs headers{};
    rapidjson::Document json{};

    /// The text at a JSON pointer: `/rows/0/name`.
    std::string at(char const* pointer) const;
    std::string text(char const* member) const { return at((std::string{"/"} + member).c_str()); }
    std::size_t rows() const;
    /// The text of a member of a row.
    std::string in_row(std::size_t n, char const* member) const {
        return at(("/rows/" + std::to_string(n) + "/" + member).c_str());
    }
};

/// One job with two items that one member runs, and an administrator called ann; or no job.
class console_world {
public:
    explicit console_world(std::vector<console_database> databases = {}, bool has_job = true);
    ~console_world();
    console_world(console_world const&) = delete;
    console_world& operator=(console_world const&) = delete;

    /// `target`: a complete one, `/api/v1/me`.
    told send_to(std::string_view method, std::string const& target, std::string body = {},
                 detail::text_pairs headers = {});
    /// `target`: below `/api/v1/`.
    told send(std::string_view method, std::string const& target, std::string body = {},
              detail::text_pairs headers = {}) {
        return send_to(method, "/api/v1/" + target, std::move(body), std::move(headers));
    }
    told get(std::string const& target) { return send("GET", target); }
    told post(std::string const& target, detail::text_pairs headers = {}) {
        return send("POST", target, "{}", std::move(headers));
    }
    std::vector<route> routes() const;
    /// The methods, patterns and roles of the routes below `/api/`, as in 2.1.5.
    static std::vector<detail::console_route_shape> java_routes();

    /// The jobs named in the events since then.
    std::vector<std::string> changes(std::uint64_t since) const;
    std::uint64_t last_change() const;

    cluster c;
    member& m = c.add();
    console_options options;

private:
    struct interface;
    std::unique_ptr<interface> interface_;
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_CONSOLE_CONSOLE_WORLD_HPP
