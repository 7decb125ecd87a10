// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/intrusive_list.hpp>

#include <doctest/doctest.h>

#include <deque>
#include <optional>
#include <random>
#include <vector>

using namespace elasticjob;

namespace {

struct item : list_hook {
    explicit item(int n) : number{n} {}
    int number;
};

std::vector<int> numbers(intrusive_list<item>& list) {
    std::vector<int> all;
    list.for_each([&](item& i) { all.push_back(i.number); });
    return all;
}

using some = std::vector<int>;

} // namespace

TEST_CASE("core.intrusive_list: keeps the order of arrival") {
    item a{1}, b{2}, c{3};
    intrusive_list<item> list;
    CHECK(list.empty());
    list.push_back(a);
    list.push_back(b);
    list.push_back(c);
    CHECK(numbers(list) == some{1, 2, 3});
    CHECK(&list.front() == &a);
    CHECK(&list.pop_front() == &a);
    CHECK(!a.is_linked());
    CHECK(b.is_linked());
    b.unlink();
    b.unlink(); // no effect
    CHECK(numbers(list) == some{3});
}

TEST_CASE("core.intrusive_list: a destroyed node leaves its list, a destroyed list releases its nodes") {
    item a{1};
    {
        intrusive_list<item> list;
        list.push_back(a);
        {
            item b{2};
            list.push_back(b);
            CHECK(numbers(list) == some{1, 2});
        }
        CHECK(numbers(list) == some{1});
    }
    CHECK(!a.is_linked());
    intrusive_list<item> another;
    another.push_back(a);
    CHECK(numbers(another) == some{1});
}

TEST_CASE("core.intrusive_list: appends another list by splicing") {
    item a{1}, b{2}, c{3}, d{4};
    intrusive_list<item> one, two;
    one.splice_back(two);
    CHECK(one.empty());
    two.push_back(c);
    two.push_back(d);
    one.push_back(a);
    one.push_back(b);
    one.splice_back(two);
    CHECK(two.empty());
    CHECK(numbers(one) == some{1, 2, 3, 4});
    two.splice_back(one);
    CHECK(one.empty());
    c.unlink();
    CHECK(numbers(two) == some{1, 2, 4});
}

TEST_CASE("core.intrusive_list: a node may leave while it is visited") {
    item a{1}, b{2}, c{3};
    intrusive_list<item> list, left;
    for (auto* i : {&a, &b, &c}) list.push_back(*i);
    list.for_each([&](item& i) {
        i.unlink();
        if (i.number != 2) left.push_back(i);
    });
    CHECK(list.empty());
    CHECK(numbers(left) == some{1, 3});
}

TEST_CASE("core.intrusive_list: agrees with a plain list after any operations") {
    std::mt19937 random{7}; // any seed; it stands here, so a failure can be repeated
    std::deque<item> items;
    for (int i = 0; i < 20; ++i) items.emplace_back(i);
    std::deque<int> model[2];
    intrusive_list<item> lists[2];
    for (int round = 0; round < 5000; ++round) {
        auto const n = static_cast<int>(random() % 20);
        auto const side = random() % 2;
        item& i = items[static_cast<std::size_t>(n)];
        switch (random() % 8) {
        case 0:
            if (!model[side].empty()) {
                REQUIRE(lists[side].pop_front().number == model[side].front());
                model[side].pop_front();
            }
            break;
        case 1:
            lists[side].splice_back(lists[1 - side]);
            model[side].insert(model[side].end(), model[1 - side].begin(), model[1 - side].end());
            model[1 - side].clear();
            break;
        default:
            if (i.is_linked()) {
                i.unlink();
                for (auto& m : model) std::erase(m, n);
            } else {
                lists[side].push_back(i);
                model[side].push_back(n);
            }
        }
        for (int s = 0; s < 2; ++s) {
            REQUIRE(lists[s].empty() == model[s].empty());
            REQUIRE(numbers(lists[s]) == some(model[s].begin(), model[s].end()));
        }
    }
}
