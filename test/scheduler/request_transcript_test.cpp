// SPDX-License-Identifier: Apache-2.0
// The files of transcripts/ show which requests each member sends and which nodes they change. A change that only moves
// code leaves the files as they are. After an intended change of the protocol, write them again and read the
// difference:
//   ELASTICJOB_RENEW_TRANSCRIPTS=1 build/dev/test/jobs_test -tc='scheduler.request_transcript*' && git diff test/scheduler
#include <elasticjob/config/json_codec.hpp>
#include <support/cluster.hpp>
#include <support/places.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// A cluster that writes down the requests of its members, phase by phase.
class recorded_cluster {
public:
    explicit recorded_cluster(memory_server_options o = {})
        : c{o},
          network_{c.server, [this](std::int64_t session, operation::kind const* write) {
                       note(session, write);
                       return request_fate::served;
                   }} {
        c.host_name = "db-1.example";
    }

    /// Ends a phase: the lines written since the last phase get this heading.
    void end_phase(std::string const& heading, std::chrono::milliseconds span) {
        c.run_for(span);
        text += heading + "\n";
        for (auto const& m : c.members) {
            auto const told = requests_.find(m->registry.session().id);
            if (told == requests_.end()) continue;
            text += "    member " + std::to_string(m->number) + ":";
            for (auto const& [what, count] : told->second)
                text += " " + (count > 1 ? std::to_string(count) + " " : "") + what;
            text += "\n";
        }
        requests_.clear();
        auto now = nodes();
        for (auto const& [path, state] : now)
            if (auto const before = nodes_.find(path); before == nodes_.end())
                text += "    + " + path + " " + state + "\n";
            else if (before->second != state)
                text += "    * " + path + " " + state + "\n";
        for (auto const& [path, state] : nodes_)
            if (!now.contains(path)) text += "    - " + path + "\n";
        nodes_ = std::move(now);
    }

    cluster c;
    std::string text;

private:
    void note(std::int64_t session, operation::kind const* write) {
        static constexpr char const* names[]{"check", "create", "set", "remove"};
        std::string const what = write ? names[static_cast<std::size_t>(*write)] : "read";
        auto& all = requests_[session];
        if (all.empty() || all.back().first != what) all.emplace_back(what, 0);
        ++all.back().second;
    }

    /// The nodes of the tree: their versions count the writes, and the lengths of their texts tell one text from
    /// another.
    std::map<std::string, std::string> nodes() const {
        std::map<std::string, std::string> all;
        c.server.tree().for_each([&](std::string const& path, node const& n) {
            all[without_process(path)] = "version " + std::to_string(n.stat.version) + ", " +
                                         std::to_string(without_process(n.data).size()) + " bytes";
        });
        return all;
    }

    /// Removes the part that each process has chosen for the ids of its instances.
    static std::string without_process(std::string text) {
        static constexpr std::string_view delimiter = "@-@";
        for (auto at = text.find(delimiter); at != text.npos; at = text.find(delimiter, at)) {
            at += delimiter.size();
            text.erase(at, std::min(text.find_first_not_of("0123456789abcdef-", at), text.size()) - at);
        }
        return text;
    }

    losing network_;
    std::map<std::int64_t, std::vector<std::pair<std::string, int>>> requests_; ///< by session, in order
    std::map<std::string, std::string> nodes_;
};

void set_item_count(cluster& c, int count) {
    c.set("/settle/config", to_json(make_job("settle", "0 * * * * ?", count)));
}

/// The usual events in the life of a job.
std::string life_of_a_job(memory_server_options o) {
    recorded_cluster r{o};
    auto& c = r.c;
    auto const job = make_job("settle", "0 * * * * ?", 12);
    REQUIRE(c.add().schedule(job));
    r.end_phase("the first member joins", 10s);
    r.end_phase("a firing", 60s);
    REQUIRE(c.add().schedule(job));
    r.end_phase("a second member joins", 10s);
    REQUIRE(c.add().schedule(job));
    r.end_phase("a third member joins", 10s);
    r.end_phase("a firing of three members", 60s);
    c.create("/settle/sharding/4/disabled");
    REQUIRE(c.members[1]->trigger("settle"));
    r.end_phase("a trigger while item 4 is disabled", 10s);
    set_item_count(c, 15);
    r.end_phase("three items more", 10s);
    set_item_count(c, 10);
    r.end_phase("five items less", 10s);
    c.set("/settle/servers/10.0.0.3", "DISABLED");
    r.end_phase("a server is disabled", 10s);
    c.set("/settle/servers/10.0.0.3", "");
    r.end_phase("and enabled", 10s);
    c.create("/settle/leader/sharding/necessary");
    r.end_phase("somebody asks for a sharding", 5s);
    c.remove("/settle/sharding/7/instance");
    r.end_phase("somebody removes the owner of item 7", 5s);
    r.end_phase("the leader's check", 10min);
    expire(c, *c.members[1]);
    r.end_phase("a session is lost", 10s);
    REQUIRE(c.members[0]->shutdown("settle"));
    r.end_phase("the first member leaves", 10s);
    REQUIRE(c.members[1]->shutdown("settle"));
    REQUIRE(c.members[2]->shutdown("settle"));
    r.end_phase("the others leave", 10s);
    return r.text;
}

void check_transcript(std::string const& name, std::string const& text) {
    auto const path = source_path("test/scheduler/transcripts/" + name + ".txt");
    if (std::getenv("ELASTICJOB_RENEW_TRANSCRIPTS")) std::ofstream{path} << text;
    std::ifstream file{path};
    std::string const expected{std::istreambuf_iterator<char>{file}, {}};
    auto const differ = std::mismatch(text.begin(), text.end(), expected.begin(), expected.end());
    bool const is_same = differ.first == text.end() && differ.second == expected.end();
    auto const line = 1 + std::count(text.begin(), differ.first, '\n');
    CHECK_MESSAGE(is_same, path, " differs from line ", line,
                  " on: ", std::string{differ.first, text.end()}.substr(0, 400));
}

} // namespace

TEST_CASE("scheduler.request_transcript: the life of a job") { check_transcript("life_of_a_job", life_of_a_job({})); }

TEST_CASE("scheduler.request_transcript: the life of a job whose sharding does not fit into one request") {
    memory_server_options o;
    o.limits.operations_max = 20;
    check_transcript("life_in_parts", life_of_a_job(o));
}
