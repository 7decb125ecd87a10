// SPDX-License-Identifier: Apache-2.0
// Bytes as a client of the console may send them: each request among them is refused, or answered as HTTP and JSON have
// it, and whatever it says, somebody without a role learns nothing.
#include <elasticjob/config/json_text.hpp>
#include <elasticjob/console/api.hpp>
#include <elasticjob/console/browser_rules.hpp>
#include <elasticjob/console/http_reading.hpp>
#include <elasticjob/console/page_reply.hpp>
#include <elasticjob/cron/time_zone.hpp>
#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <boost/asio/buffer.hpp>

#include "properties.hpp"

#include <memory>
#include <optional>
#include <string>

namespace {

using namespace elasticjob;
using namespace elasticjob::detail;

/// A registry with one job, and a console over it.
struct world {
    world() {
        job_config config;
        config.name = "settle";
        config.cron = "0 0 0 1 1 ? 2099";
        config.sharding_total_count = 2;
        fuzz::require(bool(add_job(registry, config)), "a job is added");
        options.body_max = 4'096;
        guarded.authentication = console_authentication::proxy;
        guarded.proxies = {"127.0.0.1"};
        guarded.grants = {{"*", "other", console_role::viewer}};
    }
    MemoryRegistry registry;
    UtcZone zone;
    console_options options{}, guarded{};
    console_api<event_loop> api{{{"main", "", registry}}, {}, zone, options};
    console_api<event_loop> guarded_api{{{"main", "", registry}}, {}, zone, guarded};
};

/// Takes any JSON.
struct any_listener : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, any_listener> {
    bool Default() { return true; }
    bool RawNumber(char const*, rapidjson::SizeType, bool) { return true; }
};

void check(console_reply const& reply) {
    fuzz::require(200 <= reply.status && reply.status < 600, "a status is one of HTTP");
    for (auto const& [name, value] : reply.headers)
        fuzz::require((name + value).find_first_of(std::string_view{"\r\n\0", 3}) == std::string::npos,
                      "a header is one line");
    if (reply.content_type.find("json") == std::string::npos) return;
    any_listener any;
    fuzz::require(reply.status == 304 || bool(json_text{reply.body}.read(any)), "an answer is JSON");
}

void answer(world& w, console_request r) {
    if (auto const refused = find_intrusion(r, w.options)) return check(*refused);
    auto const now = SystemClock{}.now();
    if (r.path.empty() || r.path.front() != "api") return check(page_reply(r));
    fuzz::require(!w.guarded_api.gate().identify(r, now) || !r.header("x-remote-user").empty(),
                  "somebody has a name only if the proxy gives one");
    auto const names = [&](std::string_view text) {
        std::string all = r.body;
        for (auto const& one : r.path) all += one;
        for (auto const& [name, value] : r.query) all += name + value;
        for (auto const& [name, value] : r.headers) all += name + value;
        return all.find(text) != all.npos;
    };
    auto const guarded = w.guarded_api.answer(r, now);
    check(guarded);
    if (guarded.status == 200 && !names("settle"))
        fuzz::require(guarded.body.find("settle") == std::string::npos, "an answer has no job of others");
    check(w.api.answer(r, now));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    static std::unique_ptr<world> w;
    static unsigned uses = 0;
    if (uses++ % 200 == 0) { // what the requests have changed is forgotten
        w.reset();
        w = std::make_unique<world>();
    }
    auto text = fuzz::text_of(data, size);
    for (int requests = 0; requests < 4 && !text.empty(); ++requests) {
        http_parser parser;
        limit(parser, w->options);
        boost::system::error_code failed;
        parser.eager(true);
        auto const used = parser.put(boost::asio::buffer(text.data(), text.size()), failed);
        fuzz::require(used <= text.size(), "no more is read than there is");
        if (failed) {
            if (auto const reply = fault_of(failed)) check(*reply);
            return 0;
        }
        if (!parser.is_done()) return 0;
        text.remove_prefix(used);
        auto r = read_request(parser, "127.0.0.1");
        if (!r)
            check(problem(r.error()));
        else
            answer(*w, *std::move(r));
    }
    return 0;
}
