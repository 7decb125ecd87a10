// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/path.hpp>

#include <doctest/doctest.h>

#include <string>
#include <type_traits>

using namespace elasticjob;

static_assert(!std::is_constructible_v<node_path, std::string>); // only a path that was checked
static_assert(node_path::element_fault("a") == nullptr && node_path::element_fault("...") == nullptr);
static_assert(node_path::element_fault("") != nullptr && node_path::element_fault("..") != nullptr);

TEST_CASE("core.path: parses paths that every registry accepts") {
    for (std::string const right : {"/", "/a", "/a/b", "/a.b/..c/...", "/ü/日", "/with space", "/\uf900/\uffef"})
        CHECK_MESSAGE(node_path::parse(right).value().str() == right, right);
}

TEST_CASE("core.path: refuses paths that any registry would refuse, and gives the reason") {
    using namespace std::string_literals;
    for (auto const& wrong : {""s,
                              "a"s,
                              "a/b"s,
                              "/a/"s,
                              "//"s,
                              "//a"s,
                              "/a//b"s,
                              "/."s,
                              "/.."s,
                              "/a/./b"s,
                              "/a/.."s,
                              "/a\nb"s,
                              "/a\0"s,
                              "/\x7f"s,
                              "/a\xc2\x80"s,
                              "/\xee\x80\x80"s,
                              "/\xef\xa3\xbf"s,
                              "/\xef\xbf\xb0"s,
                              "/\U0001f600"s,
                              "/a\xff"s,
                              "/\xe6\x97"s}) {
        auto const path = node_path::parse(wrong);
        REQUIRE_MESSAGE(!path, wrong);
        CHECK(path.error() == errc::invalid_path);
        CHECK(path.error().where == wrong);
        CHECK(!path.error().what.empty());
    }
}

TEST_CASE("core.path: grows, and knows its parent and name") {
    node_path const root;
    CHECK(root.is_root());
    CHECK(root.str() == "/");
    CHECK(root.name().empty());
    CHECK(root.parent() == root);
    auto const a = root / "a";
    auto const ab = a / "b";
    CHECK(a.str() == "/a");
    CHECK(ab.str() == "/a/b");
    CHECK(ab == node_path::parse("/a/b").value());
    CHECK(!a.is_root());
    CHECK(a.name() == "a");
    CHECK(ab.name() == "b");
    CHECK(a.parent() == root);
    CHECK(ab.parent() == a);
    CHECK(a < ab);
}
