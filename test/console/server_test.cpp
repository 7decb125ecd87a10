// SPDX-License-Identifier: Apache-2.0
#include <console/clients.hpp>
#include <console/served_world.hpp>

#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/operations/switches.hpp>
#include <elasticjob/registry/measured_registry.hpp>

#include <doctest/doctest.h>

#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <semaphore>
#include <string>
#include <string_view>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

namespace {

std::size_t threads() {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator{"/proc/self/task"}, {}));
}

} // namespace

TEST_CASE("console.server: serves the page, with the headers that browsers need") {
    served_world w;
    auto client = client_of(w);
    auto const page = client.Get("/");
    REQUIRE(page);
    CHECK(page->status == 200);
    CHECK(page->body.find("<html") != std::string::npos);
    CHECK(page->get_header_value("Content-Security-Policy").starts_with("default-src 'none'"));
    CHECK(page->get_header_value("X-Content-Type-Options") == "nosniff");
    CHECK(client.Get("/", {{"If-None-Match", page->get_header_value("ETag")}})->status == 304);
    CHECK(client.Get("/no.js")->status == 404);
    CHECK(client.Head("/api/v1/me")->body.empty());
    auto const me = client.Get("/api/v1/me");
    CHECK(me->status == 200);
    CHECK(me->get_header_value("Cache-Control") == "no-store");
    CHECK_FALSE(me->has_header("Access-Control-Allow-Origin"));
    CHECK(client.Get("/api/v1/registries/main/jobs")->body.find("\"settle\"") != std::string::npos);
    CHECK(client.Get("/api/v2/me")->status == 404);
}

TEST_CASE("console.server: one console serves registries of different types") {
    MemoryRegistry plain, inner;
    MeasuredRegistry measured{inner, [](registry_request const&) {}};
    REQUIRE(add_job(inner, {.name = "archive", .cron = "0 0 4 * * ?", .sharding_total_count = 1}));
    auto const console = console_server::start({{"plain", "", plain}, {"measured", "", measured}});
    REQUIRE(console);
    httplib::Client client{"127.0.0.1", console->port()};
    CHECK(client.Get("/api/v1/registries/plain/jobs")->body.find("\"archive\"") == std::string::npos);
    CHECK(client.Get("/api/v1/registries/measured/jobs")->body.find("\"archive\"") != std::string::npos);
}

TEST_CASE("console.server: a registry that does not answer holds up no other request") {
    MemoryRegistry hung, other;
    console_options o;
    o.threads = 1;
    auto const console = console_server::start({{"hung", "", hung}, {"other", "", other}}, o);
    REQUIRE(console);
    std::binary_semaphore is_free{0};
    elasticjob::post(hung.loop(), [&is_free] { is_free.acquire(); });
    plain_client waiting{console->port()};
    waiting.say("GET /api/v1/registries/hung/audit HTTP/1.1\r\n" + local_host + "\r\n");
    httplib::Client client{"127.0.0.1", console->port()};
    client.set_read_timeout(5s);
    auto const me = client.Get("/api/v1/me"), jobs = client.Get("/api/v1/registries/other/jobs");
    is_free.release();
    CHECK((me && me->status == 200));
    CHECK((jobs && jobs->status == 200));
    CHECK(waiting.hear("\r\n") == "HTTP/1.1 200 OK\r\n");
}

TEST_CASE("console.server: a request whose end is in doubt is refused, and ends the connection") {
    served_world w;
    std::string const check = "POST /api/v1/registries/main/check HTTP/1.1\r\n" + local_host +
                              "Content-Type: application/json\r\n";
    std::string const next = "GET /api/v1/me HTTP/1.1\r\n" + local_host + "\r\n";
    for (auto const* const coding : {"xchunked", "gzip", "identity", "chunked, identity", "chunked, gzip",
                                     "chunked\r\nTransfer-Encoding: chunked", "xchunked\r\nContent-Length: 2"}) {
        plain_client client{w.port()};
        client.say(check + "Transfer-Encoding: " + coding + "\r\n\r\n" + next);
        auto const all = client.hear("\"verbs\"");
        CHECK_MESSAGE(all.starts_with("HTTP/1.1 400"), coding);
        CHECK_MESSAGE(all.find("\"verbs\"") == std::string::npos, coding);
    }
    auto const chunked = check + "Transfer-Encoding: Chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
    CHECK(plain_client{w.port()}.ask(chunked) == "HTTP/1.1 200 OK\r\n");
    auto const for_two = "GET /api/v1/me HTTP/1.1\r\n" + local_host + local_host + "\r\n";
    CHECK(plain_client{w.port()}.ask(for_two) == "HTTP/1.1 400 Bad Request\r\n");
}

TEST_CASE("console.server: refuses requests of foreign pages and malformed clients") {
    console_options o;
    o.read_timeout = 1s;
    o.head_max = 2'048;
    o.body_max = 1'000;
    served_world w{o};
    auto client = client_of(w);
    CHECK(client.Get("/api/v1/me", {{"Host", "evil.example"}})->status == 421);
    auto const verb = "/api/v1/registries/main/jobs/settle/disable";
    CHECK(client.Post(verb, "{}", "text/plain")->status == 415);
    CHECK(client.Post(verb, {{"Origin", "http://evil.example"}}, "{}", "application/json")->status == 403);
    CHECK(client.Post(verb, {{"Sec-Fetch-Site", "cross-site"}}, "{}", "application/json")->status == 403);
    CHECK(client.Post(verb, "{}", "application/json")->status == 404); // the job has never run, so it has no servers
    CHECK(client.Options("/api/v1/me")->status != 200);
    CHECK(client.Put("/api/v1/registries/main/jobs/settle/configuration", std::string(2'000, ' '), "application/json")
              ->status == 413);
    auto const status = [&](std::string const& text) { return plain_client{w.port()}.ask(text).substr(9, 3); };
    CHECK(status("GET / HTTP/1.1\r\n" + local_host + "X: " + std::string(3'000, 'x') + "\r\n\r\n") == "431");
    CHECK(status("nonsense\r\n\r\n") == "400");
    CHECK(status("GET /%00 HTTP/1.1\r\n" + local_host + "\r\n") == "400");
    CHECK(status("GET http://127.0.0.1/ HTTP/1.1\r\n" + local_host + "\r\n") == "400");
    CHECK(status("GET / HTTP/1.1\r\n\r\n") == "421");
    // The server drops a client that does not finish its request, and a silent one.
    plain_client slow{w.port()};
    CHECK(slow.ask("GET / HTT").empty());
    // Several requests on one connection.
    plain_client twice{w.port()};
    twice.say("GET /api/v1/me HTTP/1.1\r\n" + local_host + "\r\nGET /api/v1/nothing HTTP/1.1\r\n" + local_host +
              "\r\n");
    CHECK(twice.hear("\"verbs\"").starts_with("HTTP/1.1 200"));
    CHECK(twice.hear("no_node").find("HTTP/1.1 404") != std::string::npos);
}

TEST_CASE("console.server: scripts for the 2.1.5 console need neither a body nor its type") {
    console_options o;
    o.has_java_interface = true;
    served_world w{o};
    auto client = client_of(w);
    client.set_keep_alive(true);
    CHECK(client.Get("/api/jobs/count")->body == "1");
    auto settings = client.Get("/api/jobs/config/settle")->body;
    CHECK(client.Post("/api/jobs/settle/trigger")->status == 404); // no instance can run it
    CHECK(client.Post("/api/jobs/settle/trigger", "a=b", "application/x-www-form-urlencoded")->status == 415);
    settings.replace(settings.find("\"failover\":false"), 16, "\"failover\":true");
    auto const changed = client.Put("/api/jobs/config", settings, "application/json");
    CHECK(changed->status == 204);
    CHECK(changed->body.empty());
    CHECK(client.Get("/api/jobs/config/settle")->body == settings);
    CHECK(client.Delete("/api/jobs/config/settle")->status == 204);
    CHECK(client.Get("/api/jobs/config/settle")->status == 404);
}

TEST_CASE("console.server: a stream starts where an answer ended") {
    served_world w;
    auto client = client_of(w);
    REQUIRE(client.Get("/api/v1/registries/main/jobs")->status == 200); // the jobs have been read
    auto const seen = client.Get("/api/v1/registries/main/jobs")->get_header_value("Elasticjob-Change");
    job_config config;
    config.name = "load";
    config.cron = "@daily";
    REQUIRE(add_job(w.registry, config));
    plain_client early{w.port()}, late{w.port()};
    early.say("GET /api/v1/registries/main/stream?after=" + seen + " HTTP/1.1\r\n" + local_host + "\r\n");
    CHECK(early.hear("\"load\"}").find("event: reset") == std::string::npos);
    late.say("GET /api/v1/registries/main/stream?after=other-1 HTTP/1.1\r\n" + local_host + "\r\n");
    CHECK(late.hear("event: reset").ends_with("event: reset"));
}

TEST_CASE("console.server: a stream reports changes, and continues where its reader was") {
    served_world w;
    REQUIRE(client_of(w).Get("/api/v1/registries/main/jobs")->status == 200);
    plain_client reader{w.port()};
    CHECK(reader.ask(stream_request) == "HTTP/1.1 200 OK\r\n");
    CHECK(reader.hear("retry: 2000\n\n").find("text/event-stream") != std::string::npos);
    REQUIRE(switch_item(w.registry, "settle", 0, switched::off, {"ann"}));
    auto const event = reader.hear("\n\n");
    CHECK(event.find("event: job\ndata: {\"job\":\"settle\"}\n") != std::string::npos);
    auto const id = event.substr(4, event.find('\n') - 4);

    REQUIRE(switch_item(w.registry, "settle", 0, switched::on, {"ann"}));
    (void)reader.hear("\n\n");
    auto const resume = [&](std::string const& last) {
        plain_client again{w.port()};
        again.say("GET /api/v1/registries/main/stream HTTP/1.1\r\n" + local_host + "Last-Event-ID: " + last +
                  "\r\n\r\n");
        (void)again.hear("retry: 2000\n\n");
        return again.hear("\n\n");
    };
    CHECK(resume(id).find("event: job") != std::string::npos);
    CHECK(resume("other-7").find("event: reset") != std::string::npos);
    CHECK(plain_client{w.port()}.ask("GET /api/v1/registries/other/stream HTTP/1.1\r\n" + local_host + "\r\n") ==
          "HTTP/1.1 404 Not Found\r\n");
}

TEST_CASE("console.server: 200 streams need no threads, and one more is refused") {
    served_world w;
    REQUIRE(client_of(w).Get("/api/v1/registries/main/jobs")->status == 200);
    auto const before = threads();
    std::vector<plain_client> readers;
    for (int n = 0; n < 200; ++n) {
        readers.emplace_back(w.port());
        REQUIRE(readers.back().ask(stream_request) == "HTTP/1.1 200 OK\r\n");
        (void)readers.back().hear("retry: 2000\n\n");
    }
    CHECK(threads() == before);
    CHECK(plain_client{w.port()}.ask(stream_request) == "HTTP/1.1 503 Service Unavailable\r\n");
    CHECK(client_of(w).Get("/api/v1/me")->status == 200);
    REQUIRE(switch_item(w.registry, "settle", 0, switched::off, {"ann"}));
    for (auto& r : readers) REQUIRE(r.hear("\n\n").find("\"settle\"") != std::string::npos);
    // A client that leaves makes room.
    readers.clear();
    std::string reply;
    for (int n = 0; n < 1'000 && !reply.starts_with("HTTP/1.1 200"); ++n)
        reply = plain_client{w.port()}.ask(stream_request);
    CHECK(reply.starts_with("HTTP/1.1 200"));
}

TEST_CASE("console.server: operators sign in with a password, and guessing is limited") {
    password_file const file;
    served_world w{with_passwords(file)};
    auto client = client_of(w);
    CHECK(client.Get("/")->status == 200); // the page holds no secret
    CHECK(client.Get("/api/v1/me")->status == 401);
    CHECK(plain_client{w.port()}.ask(stream_request).starts_with("HTTP/1.1 401"));
    auto const sign_in = [&](std::string const& name, std::string const& password) {
        return client.Post("/api/v1/session", R"({"operator": ")" + name + R"(", "password": ")" + password + R"("})",
                           "application/json");
    };
    CHECK(client.Post("/api/v1/session", "nonsense", "application/json")->status == 422);
    CHECK(sign_in("ann", "wrong")->status == 401);
    CHECK(sign_in("eve", "secret")->status == 401);
    auto const in = sign_in("ann", "secret");
    REQUIRE(in->status == 200);
    auto const cookie = in->get_header_value("Set-Cookie");
    CHECK(cookie.find("; HttpOnly; SameSite=Strict") != std::string::npos);
    httplib::Headers const session{{"Cookie", "a=b; " + cookie.substr(0, cookie.find(';'))}};
    auto const me = client.Get("/api/v1/me", session);
    CHECK(me->status == 200);
    CHECK(me->body.find("\"operator\":\"ann\"") != std::string::npos);
    CHECK(client.Post("/api/v1/registries/main/jobs/settle/remove", session, "{}", "application/json")->status == 403);
    CHECK(client.Delete("/api/v1/session", session)->status == 200);
    CHECK(client.Get("/api/v1/me", session)->status == 401);
    for (int n = 0; n < 5; ++n) CHECK(sign_in("ann", "wrong")->status == 401);
    CHECK(sign_in("ann", "secret")->status == 429);
}

TEST_CASE("console.server: unsafe options are refused at the start") {
    auto const refused = [](auto change) {
        console_options o;
        change(o);
        return served_world::refusal(o);
    };
    CHECK(refused([](auto& o) { o.address = "0.0.0.0"; }).where == "address");
    CHECK(refused([](auto& o) { o.address = "somewhere"; }) == errc::invalid_argument);
    CHECK(refused([](auto& o) { o.port = 70'000; }).where == "port");
    CHECK(refused([](auto& o) { o.local_operator = "\xff"; }).where == "local_operator");
    CHECK(refused([](auto& o) { o.authentication = console_authentication::password; }).where == "password_file");
    CHECK(refused([](auto& o) { o.authentication = console_authentication::proxy; }).where == "proxies");
    CHECK(refused([](auto& o) { o.streams_max = 256; }).where == "streams_max");
    CHECK(refused([](auto& o) { o.threads = 0; }).where == "threads");
    CHECK(refused([](auto& o) { o.read_timeout = 0s; }).where == "read_timeout");
    password_file const file;
    auto o = with_passwords(file);
    o.address = "0.0.0.0";
    CHECK(served_world::refusal(o).where == "address");
    o = with_passwords(file);
    o.grants.clear();
    CHECK(served_world::refusal(o).where == "grants");
    o = with_passwords(file);
    std::filesystem::permissions(file.path, std::filesystem::perms::others_write, std::filesystem::perm_options::add);
    CHECK(served_world::refusal(o).what.find("chmod go-w") != std::string::npos);
    std::filesystem::permissions(file.path, std::filesystem::perms::others_write,
                                 std::filesystem::perm_options::remove);
    std::ofstream{file.path} << "ann:plain\n";
    CHECK(served_world::refusal(o) == errc::malformed_data);
    o.password_file = file.path + ".none";
    CHECK(served_world::refusal(o) == errc::invalid_argument);
    served_world const one;
    console_options same;
    same.port = one.port();
    CHECK(served_world::refusal(same) == errc::unreachable);
}
