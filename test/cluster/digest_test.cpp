// SPDX-License-Identifier: Apache-2.0
#include <cluster/cluster.hpp>

#include <elasticjob/registry/zk/c_api.hpp>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// Reads access lists, which a registry does not expose.
class raw_client {
public:
    raw_client(std::string const& endpoint, std::string const& digest)
        : handle_{zookeeper_init(endpoint.c_str(), nullptr, 10'000, nullptr, nullptr, 0)} {
        REQUIRE(handle_ != nullptr);
        auto const rc = zoo_add_auth(
            handle_, "digest", digest.data(), static_cast<int>(digest.size()), [](int, void const*) {}, nullptr);
        REQUIRE(rc == ZOK);
    }
    raw_client(raw_client const&) = delete;
    raw_client& operator=(raw_client const&) = delete;
    ~raw_client() { zookeeper_close(handle_); }

    /// As in `digest alice:… 31`, one for each entry.
    std::vector<std::string> access_list(std::string const& path) {
        ACL_vector list{};
        Stat stat{};
        std::vector<std::string> entries;
        REQUIRE(zoo_get_acl(handle_, path.c_str(), &list, &stat) == ZOK);
        for (std::int32_t i = 0; i < list.count; ++i)
            entries.push_back(std::string{list.data[i].id.scheme} + " " + list.data[i].id.id + " " +
                              std::to_string(list.data[i].perms));
        deallocate_ACL_vector(&list);
        return entries;
    }

private:
    zhandle_t* handle_;
};

} // namespace

TEST_CASE("cluster: with a digest all nodes belong to that user, and another one is refused and changes nothing") {
    cluster all{common_server(), "digest/inner", "alice:secret"};
    INFO(all.transcript());
    auto const job = never(3);
    worker_options alice{.jobs = {job}, .more = {"--digest", "alice:secret"}};
    auto& a = all.start("alice", alice);
    auto& also_a = all.start("also alice", alice);
    all.wait_until_shared(job, {&a, &also_a});

    // base64(sha1("alice:secret")) is how servers know her.
    std::vector<std::string> const hers{"digest alice:aYXlLOpEooaV1cRAvUL1fp9Qt7E= 31"};
    raw_client raw{common_server().endpoint(), "alice:secret"};
    auto const before = all.tree(node_path{});
    CHECK(before.size() > 20);
    CHECK(raw.access_list("/digest/inner") == hers);
    for (auto const& [path, unused] : before) CHECK_MESSAGE(raw.access_list("/digest/inner" + path) == hers, path);

    std::vector<member*> refused;
    for (auto const& [who, digest] :
         {std::pair{"bob", "bob:secret"}, {"nobody", ""}, {"alice by mistake", "alice:Secret"}})
        for (auto const& theirs : {job, never(1, "another")}) {
            worker_options o{.jobs = {theirs}};
            if (*digest) o.more = {"--digest", digest};
            refused.push_back(&all.start(who, o));
        }
    for (auto* m : refused) {
        all.wait_for("a refusal, and the end", [&] { return m->has("refused") && m->has_ended(); });
        auto const text = m->all("refused").back().text;
        CHECK_MESSAGE(text.find("no_auth: ") != text.npos, text);
        CHECK_MESSAGE(text.find("connect with that user's digest") != text.npos, text); // the remedy
        CHECK_MESSAGE(text.find("(/") != text.npos, text);                              // and the node
        CHECK(m->exit_code() == 1);
        CHECK(!m->has("joined"));
    }
    CHECK(all.tree(node_path{}) == before); // down to the versions
    all.check_no_trouble();
}
