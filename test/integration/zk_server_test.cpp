// SPDX-License-Identifier: Apache-2.0
#include <support/zk_server.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

using elasticjob::test::zk_server;

namespace {

bool serves(zk_server const& server) { return server.ask("srvr").find("Mode: standalone") != std::string::npos; }

/// The local addresses, as the kernel prints them, with a listener on this port.
std::vector<std::string> listening_addresses(std::uint16_t port) {
    char suffix[8];
    std::snprintf(suffix, sizeof suffix, ":%04X", port);
    std::vector<std::string> found;
    for (auto const* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
        std::ifstream file{table};
        for (std::string slot, local, remote, state, rest; file >> slot >> local >> remote >> state;) {
            std::getline(file, rest);
            if (state == "0A" && local.ends_with(suffix)) found.push_back(local.substr(0, local.find(':')));
        }
    }
    return found;
}

struct changed_variable {
    changed_variable(char const* name, char const* value) : name_{name} {
        if (char const* old = std::getenv(name)) old_ = old;
        ::setenv(name, value, 1);
    }
    ~changed_variable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }
    char const* name_;
    std::optional<std::string> old_;
};

} // namespace

TEST_CASE("zk_server: is ready when constructed, and listens on loopback only") {
    zk_server server;
    CHECK(serves(server));
    CHECK(server.endpoint() == "127.0.0.1:" + std::to_string(server.port()));
    CHECK(server.ask("conf").find("clientPort=" + std::to_string(server.port()) + "\n") != std::string::npos);
    auto const addresses = listening_addresses(server.port());
    REQUIRE(addresses.size() == 1);
    CHECK((addresses[0] == "0100007F" || addresses[0] == "0000000000000000FFFF00000100007F"));
    CHECK(server.ask("srvr", std::chrono::milliseconds{0}).empty());
}

TEST_CASE("zk_server: the session limits are those asked for") {
    zk_server server{{.tick_ms = 100, .session_timeout_min_ms = 300, .session_timeout_max_ms = 7000}};
    auto const conf = server.ask("conf");
    CHECK(conf.find("tickTime=100\n") != std::string::npos);
    CHECK(conf.find("minSessionTimeout=300\n") != std::string::npos);
    CHECK(conf.find("maxSessionTimeout=7000\n") != std::string::npos);
}

TEST_CASE("zk_server: two servers do not disturb each other") {
    zk_server one;
    zk_server two;
    CHECK(one.port() != two.port());
    one.kill();
    CHECK(!serves(one));
    CHECK(serves(two));
}

TEST_CASE("zk_server: comes back on the same port after stop and after kill") {
    zk_server server;
    auto const endpoint = server.endpoint();
    server.stop();
    CHECK(!server.is_running());
    CHECK(!serves(server));
    server.start();
    CHECK(serves(server));
    server.kill();
    CHECK(!serves(server));
    server.start();
    CHECK(serves(server));
    CHECK(server.endpoint() == endpoint);
}

TEST_CASE("zk_server: a paused server does not answer, a resumed one does") {
    zk_server server;
    server.pause();
    CHECK(server.ask("srvr", std::chrono::milliseconds{200}).empty());
    server.resume();
    CHECK(serves(server));
    server.pause();
    server.stop(); // resumes it first; otherwise it would not receive the signal
    CHECK(!server.is_running());
}

TEST_CASE("zk_server: leaves nothing behind") {
    std::filesystem::path directory;
    {
        zk_server server;
        auto const conf = server.ask("conf");
        auto const begin = conf.find("dataDir=") + 8;
        directory = conf.substr(begin, conf.find("/data/", begin) - begin);
        REQUIRE(std::filesystem::exists(directory / "zoo.cfg"));
    }
    CHECK(!std::filesystem::exists(directory));
}

TEST_CASE("zk_server: names missing parts") {
    SUBCASE("java") {
        changed_variable const path{"PATH", "/nonexistent"};
        changed_variable const home{"JAVA_HOME", "/nonexistent"};
        CHECK_THROWS_WITH(zk_server{}, doctest::Contains("no java in PATH"));
    }
    SUBCASE("the jar: the error includes the end of the log") {
        changed_variable const classpath{"ZOOKEEPER_CLASSPATH", "/nonexistent.jar"};
        CHECK_THROWS_WITH(zk_server{}, doctest::Contains("ClassNotFoundException"));
    }
}
