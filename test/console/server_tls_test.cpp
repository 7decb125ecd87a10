// SPDX-License-Identifier: Apache-2.0
#include <console/clients.hpp>
#include <console/served_world.hpp>

#include <elasticjob/operations/switches.hpp>

#include <support/certificates.hpp>
#include <support/private_file.hpp>

#include <doctest/doctest.h>

#include <httplib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <signal.h>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

namespace {

/// A certificate and its key in files.
struct certificate_files {
    explicit certificate_files(made_certificate const& made = make_certificate())
        : certificate{made.certificate},
          key{made.key} {}

    console_options options(console_options o = {}) const {
        o.certificate_file = certificate.path;
        o.key_file = key.path;
        return o;
    }

    private_file certificate, key;
};

/// Trusts these certificates only.
struct trusting_client : httplib::SSLClient {
    trusting_client(served_world const& w, private_file const& trusted) : SSLClient{"127.0.0.1", w.port()} {
        ::signal(SIGPIPE, SIG_IGN);
        set_ca_cert_path(trusted.path.c_str());
        enable_server_certificate_verification(true);
    }
};

/// A TLS connection of these versions that sends what the test tells it.
class secured_client {
public:
    secured_client(int port, int version_min, int version_max)
        : transport_{port},
          context_{SSL_CTX_new(TLS_client_method()), &SSL_CTX_free} {
        SSL_CTX_set_security_level(context_.get(), 0); // otherwise this client would refuse old versions itself
        SSL_CTX_set_min_proto_version(context_.get(), version_min);
        SSL_CTX_set_max_proto_version(context_.get(), version_max);
        ::signal(SIGPIPE, SIG_IGN); // OpenSSL writes to connections that the server has closed
        stream_ = {SSL_new(context_.get()), &SSL_free};
        SSL_set_fd(stream_.get(), transport_.socket());
        is_connected = SSL_connect(stream_.get()) == 1;
        ERR_clear_error();
    }
    void say(std::string_view text) { (void)SSL_write(stream_.get(), text.data(), static_cast<int>(text.size())); }
    std::string hear(std::string_view end) {
        char c = 0;
        while (heard_.find(end) == heard_.npos && SSL_read(stream_.get(), &c, 1) == 1) heard_ += c;
        ERR_clear_error();
        return std::exchange(heard_, {});
    }
    std::string ask(std::string const& text) {
        say(text);
        return hear("\r\n");
    }
    std::string version() const { return SSL_get_version(stream_.get()); }
    std::string cipher() const { return SSL_get_cipher_name(stream_.get()); }
    void end() { (void)SSL_shutdown(stream_.get()); }

    bool is_connected = false;

private:
    plain_client transport_;
    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
    std::unique_ptr<SSL, decltype(&SSL_free)> stream_{nullptr, &SSL_free};
    std::string heard_;
};

std::string const me = "GET /api/v1/me HTTP/1.1\r\n" + local_host + "\r\n";

} // namespace

TEST_CASE("console.server: with a certificate it speaks TLS 1.2 or later, and nothing else") {
    certificate_files const files;
    console_options o;
    o.body_max = 1'000;
    served_world w{files.options(o)};
    CHECK(w.url() == "https://127.0.0.1:" + std::to_string(w.port()) + "/");
    trusting_client client{w, files.certificate};
    auto const page = client.Get("/");
    REQUIRE(page);
    CHECK(page->status == 200);
    CHECK(page->get_header_value("Strict-Transport-Security") == "max-age=31536000");
    CHECK(client.Get("/api/v1/registries/main/jobs")->body.find("\"settle\"") != std::string::npos);
    auto const verb = "/api/v1/registries/main/jobs/settle/disable";
    CHECK(client.Post(verb, {{"Origin", "http://127.0.0.1:" + std::to_string(w.port())}}, "{}", "application/json")
              ->status == 403);
    CHECK(client.Post(verb, {{"Origin", "https://127.0.0.1:" + std::to_string(w.port())}}, "{}", "application/json")
              ->status == 404); // the job has no servers
    CHECK(client.Put("/api/v1/me", std::string(2'000, ' '), "application/json")->status == 413);

    CHECK(plain_client{w.port()}.ask(me).find("HTTP") == std::string::npos);
    CHECK_FALSE(secured_client{w.port(), TLS1_VERSION, TLS1_VERSION}.is_connected);
    CHECK_FALSE(secured_client{w.port(), TLS1_1_VERSION, TLS1_1_VERSION}.is_connected);
    secured_client older{w.port(), TLS1_2_VERSION, TLS1_2_VERSION};
    CHECK(older.ask(me) == "HTTP/1.1 200 OK\r\n");
    CHECK(older.cipher().starts_with("ECDHE-"));
    secured_client newer{w.port(), TLS1_VERSION, TLS1_3_VERSION};
    CHECK(newer.version() == "TLSv1.3");
    CHECK(newer.ask(me) == "HTTP/1.1 200 OK\r\n");
    // The server closes a connection with a TLS close notification.
    newer.say("GET /api/v1/me HTTP/1.1\r\n" + local_host + "Connection: close\r\n\r\n");
    CHECK(newer.hear("no end").find("\"verbs\"") != std::string::npos);
}

TEST_CASE("console.server: streams go over TLS, and end with their readers") {
    certificate_files const files;
    console_options o;
    o.streams_max = 1;
    served_world w{files.options(o)};
    auto const open = [&] { return secured_client{w.port(), TLS1_2_VERSION, TLS1_3_VERSION}; };
    REQUIRE(open().ask("GET /api/v1/registries/main/jobs HTTP/1.1\r\n" + local_host + "\r\n") == "HTTP/1.1 200 OK\r\n");
    {
        auto reader = open();
        REQUIRE(reader.ask(stream_request) == "HTTP/1.1 200 OK\r\n");
        (void)reader.hear("retry: 2000\n\n");
        for (auto const to : {switched::off, switched::on, switched::off}) {
            REQUIRE(switch_item(w.registry, "settle", 0, to, {"ann"}));
            CHECK(reader.hear("\n\n").find("\"settle\"") != std::string::npos);
        }
        CHECK(open().ask(stream_request).starts_with("HTTP/1.1 503"));
        reader.end();
    }
    std::string reply;
    for (int n = 0; n < 1'000 && !reply.starts_with("HTTP/1.1 200"); ++n) reply = open().ask(stream_request);
    CHECK(reply.starts_with("HTTP/1.1 200"));
}

TEST_CASE("console.server: a handshake has a time limit, and counts as a connection") {
    certificate_files const files;
    console_options o;
    o.connections_max = 2;
    o.streams_max = 1;
    o.read_timeout = 1s;
    served_world w{files.options(o)};
    auto const begin = std::chrono::steady_clock::now();
    plain_client silent{w.port()}, slow{w.port()}, one_more{w.port()};
    slow.say("\x16\x03\x01"); // the start of a handshake
    CHECK(one_more.hear("no end").empty());
    CHECK(silent.hear("no end").empty());
    CHECK(slow.hear("no end").empty());
    CHECK(std::chrono::steady_clock::now() - begin < 15s);
    secured_client after{w.port(), TLS1_2_VERSION, TLS1_3_VERSION};
    CHECK(after.ask(me) == "HTTP/1.1 200 OK\r\n");
}

TEST_CASE("console.server: an unusable certificate is refused at the start") {
    certificate_files const files;
    auto const with = [](certificate_files const& f) { return served_world::refusal(f.options()).what; };
    auto o = files.options();
    o.key_file.clear();
    CHECK(served_world::refusal(o).where == "key_file");
    o = files.options();
    o.certificate_file.clear();
    CHECK(served_world::refusal(o).where == "key_file");
    o = files.options();
    o.certificate_file += ".none";
    CHECK(served_world::refusal(o).what.starts_with("the certificate cannot be read: No such file"));

    using std::filesystem::perms;
    files.key.permit(perms::owner_read | perms::group_read);
    CHECK(with(files).find("chmod 600") != std::string::npos);
    files.key.permit(perms::owner_read | perms::others_read);
    CHECK(with(files).find("chmod 600") != std::string::npos);

    auto const good = make_certificate();
    CHECK(with(certificate_files{{good.certificate, make_certificate().key}}) ==
          "key_file is not the key of the certificate");
    CHECK(with(certificate_files{make_certificate(-48h, -1h)}) == "certificate_file has expired");
    CHECK(with(certificate_files{make_certificate(1h, 48h)}) == "certificate_file does not hold yet");
    CHECK(with(certificate_files{make_certificate(-1h, 1h, "secret")}).starts_with("key_file holds no key in PEM"));
    CHECK(with(certificate_files{{"nonsense", good.key}}).starts_with("certificate_file holds no certificate"));
    CHECK(with(certificate_files{{good.certificate, "nonsense"}}).starts_with("key_file holds no key in PEM"));
}

TEST_CASE("console.server: a changed certificate is used for the next connection") {
    certificate_files const files;
    served_world w{files.options()};
    private_file const first{make_certificate().certificate};
    first.write([&] {
        std::ifstream in{files.certificate.path};
        return std::string{std::istreambuf_iterator<char>{in}, {}};
    }());
    CHECK(trusting_client{w, first}.Get("/api/v1/me"));
    auto const fresh = make_certificate();
    private_file const second{fresh.certificate};
    CHECK_FALSE(trusting_client{w, second}.Get("/api/v1/me"));
    files.certificate.write(fresh.certificate); // so far without its key
    CHECK(trusting_client{w, first}.Get("/api/v1/me"));
    files.key.write(fresh.key);
    CHECK(trusting_client{w, second}.Get("/api/v1/me"));
    CHECK_FALSE(trusting_client{w, first}.Get("/api/v1/me"));
}

TEST_CASE("console.server: over TLS the session cookie belongs to this host, and is sent over TLS only") {
    certificate_files const files;
    password_file const passwords;
    served_world w{files.options(with_passwords(passwords))};
    trusting_client client{w, files.certificate};
    auto const in = client.Post("/api/v1/session", R"({"operator": "ann", "password": "secret"})", "application/json");
    REQUIRE(in->status == 200);
    auto const cookie = in->get_header_value("Set-Cookie");
    CHECK(cookie.starts_with("__Host-elasticjob-session="));
    CHECK(cookie.find("; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=43200") != std::string::npos);
    CHECK(cookie.find("Domain") == std::string::npos);
    CHECK(client.Get("/api/v1/me", {{"Cookie", cookie_of(in)}})->status == 200);
    // Another host could set a cookie without the prefix.
    CHECK(client.Get("/api/v1/me", {{"Cookie", cookie_of(in).substr(7)}})->status == 401);
    auto const out = client.Delete("/api/v1/session", {{"Cookie", cookie_of(in)}});
    CHECK(out->get_header_value("Set-Cookie").find("; Secure; Max-Age=0") != std::string::npos);
}
