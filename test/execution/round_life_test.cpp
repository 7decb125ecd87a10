// SPDX-License-Identifier: Apache-2.0
// The part and the notes of an instance in a round that older members take part in. For all orders of events see
// ../search/round_orders_test.cpp.
#include <elasticjob/execution/round_life.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::detail;
using namespace std::chrono_literals;

namespace {

using kind = round_step::kind;

job_layout const at{job_name::parse("a").value()};
instance_id const self = instance_id::parse("10.0.0.1@-@1-a").value();
instance_id const older = instance_id::parse("10.0.0.2@-@2-b").value();
wall_time const due{24h * 365};

node node_of(std::string data) {
    node n;
    n.data = std::move(data);
    return n;
}

/// An instance in a round of four items. It has the first two of them.
struct stage {
    stage() {
        items.take(0);
        items.take(1);
    }
    round_moment moment() const {
        round_moment m{.self = self, .at = at, .items = items};
        m.item_count = item_count;
        m.start_timeout = 30s;
        m.end_timeout = 1h;
        m.now = now;
        m.is_current = m.is_list_current = true;
        m.is_holder_unseen = !sees_holder;
        m.starts_together = starts_together;
        return m;
    }
    round_step next() { return life.next(moment()); }

    /// The round's node says that.
    void read(std::string text, node_version version = 1) {
        auto n = node_of(std::move(text));
        n.stat.version = version;
        life.read(moment(), std::move(n));
    }
    round_news commit(round_step const& s) {
        REQUIRE(s.is == kind::commit);
        return life.committed(moment(), commit_reply{});
    }
    void end_items(wall_time through = due) {
        for (auto const i : items.list()) items.deal(i, through);
    }
    /// Carries out the step that reads the notes.
    void read_notes(std::vector<std::pair<std::string, std::string>> const& notes) {
        std::vector<std::string> names;
        for (auto const& [name, text] : notes) names.push_back(name);
        life.listed(moment(), names);
        auto const step = next();
        if (step.is != kind::read_notes) return;
        std::vector<std::optional<node>> found;
        for (auto const& path : step.paths)
            for (auto const& [name, text] : notes)
                if (path.name() == name) found.push_back(node_of(text));
        REQUIRE(found.size() == step.paths.size());
        life.notes_read(moment(), std::move(found));
    }
    /// The text that a commit writes into the round's node.
    static std::string written(round_step const& s) {
        REQUIRE(s.is == kind::commit);
        REQUIRE(s.changes.size() == 1);
        return s.changes.operations()[0].data;
    }

    dealt_items items;
    std::uint32_t item_count = 4;
    mono_time now{1h};
    bool sees_holder = true;
    bool starts_together = false;
    round_life life{due};
};

} // namespace

TEST_CASE("execution.round_life: items are written down once, when all that the instance has are dealt with") {
    stage s;
    s.read("open " + older.str());
    s.items.deal(0, due);
    CHECK(s.next().is == kind::rest);
    s.items.deal(1, due + 10s);
    auto const note = s.next();
    REQUIRE(note.is == kind::note);
    CHECK(note.path.name() == self.str() + ",0");
    CHECK(note.text == "0 1 ");
    s.life.noted(s.moment(), note.path);
    CHECK(s.next().is == kind::rest);

    s.items.drop(1); // another instance reads in the record that it is dealt with
    CHECK(s.next().is == kind::rest);
    s.items.take(3);
    CHECK(s.next().is == kind::rest);
    s.items.deal(3, due);
    auto const further = s.next();
    REQUIRE(further.is == kind::note);
    CHECK(further.path.name() == self.str() + ",1");
    CHECK(further.text == "3 ");
}

TEST_CASE("execution.round_life: a note whose reply is lost is written once more, under another name") {
    stage s;
    s.read("open " + older.str());
    s.end_items();
    auto const first = s.next();
    s.life.noted(s.moment(), error{errc::unknown_outcome, "lost"});
    CHECK(s.next().is == kind::rest);
    s.now += 1s;
    CHECK(s.next().path == first.path);
    s.life.noted(s.moment(), error{errc::node_exists, "there"});
    auto const again = s.next();
    CHECK(again.path.name() == self.str() + ",1");
    CHECK(again.text == first.text);
}

TEST_CASE(
    "execution.round_life: one of our members holds a round that an older member has opened, and reads its notes") {
    stage s;
    s.sees_holder = false;
    s.read("open");
    CHECK(s.life.is_open());
    auto const hold = s.next();
    CHECK(stage::written(hold) == "open " + self.str());
    auto const news = s.commit(hold);
    CHECK(news.missed_before.empty());
    CHECK(news.missed_after.empty());
    s.read("open " + self.str(), 2);

    // An older member changes its only note, and no watch reports it.
    REQUIRE(s.next().is == kind::list);
    s.read_notes({{older.str(), "2 "}});
    s.now += 31s;
    REQUIRE(s.next().is == kind::list);
    s.end_items();
    auto const note = s.next();
    REQUIRE(note.is == kind::note);
    s.life.noted(s.moment(), note.path);
    REQUIRE(s.next().is == kind::list);
    s.read_notes({{older.str(), "2 3 "}, {self.str() + ",0", note.text}});
    auto const close = s.next();
    CHECK(stage::written(close) == "after " + self.str());
    CHECK(s.commit(close).missed_after.empty());
    s.read("after " + self.str(), 3);
    CHECK(s.next().is == kind::call);
}

TEST_CASE("execution.round_life: an older member reads the items of a note, each with a space behind it") {
    stage s;
    s.items.take(10);
    s.end_items();
    s.read("open " + older.str());
    CHECK(s.next().text == "0 1 10 ");
}

TEST_CASE("execution.round_life: an older member that has opened or ended a round is left to call its hooks") {
    for (auto const* const word : {"before ", "after "}) {
        stage s;
        s.end_items();
        s.read(word + older.str());
        CHECK(s.next().is == kind::rest);
    }
}

TEST_CASE("execution.round_life: with another number of items, the notes are read again") {
    stage s;
    s.read("open " + self.str());
    s.end_items();
    auto const note = s.next();
    s.life.noted(s.moment(), note.path);
    REQUIRE(s.next().is == kind::list);
    s.read_notes({{self.str() + ",0", "0 1 "}, {older.str(), "2 "}});
    s.item_count = 3;
    REQUIRE(s.next().is == kind::list);
    s.read_notes({{self.str() + ",0", "0 1 "}, {older.str(), "2 "}});
    CHECK(stage::written(s.next()) == "after " + self.str());
}

TEST_CASE("execution.round_life: the content of the node is read back") {
    auto const s = round_state::of("before " + self.str());
    CHECK(s.is == round_state::stage::before);
    CHECK(s.holder == self.str());
    CHECK(s.to_text() == "before " + self.str());
    CHECK(round_state::of("open").holder.empty());
    CHECK(round_state::of("open").is == round_state::stage::open);
    CHECK(round_state::of("").is == round_state::stage::after);
    CHECK(round_state::of("before a/b").holder.empty());
}

TEST_CASE("execution.round_life: notes that are lost with a reply are reported, and notes that were not sent are not") {
    for (auto const lost : {errc::unknown_outcome, errc::not_sent}) {
        stage s;
        s.sees_holder = false;
        s.read("before " + older.str());
        REQUIRE(s.next().is == kind::look);
        s.life.holder_looked_for(s.moment(), false);
        REQUIRE(s.next().is == kind::commit);
        auto const news = s.life.committed(s.moment(), error{lost, "lost"});
        CHECK(news.missed_before.empty() == (lost == errc::not_sent));
    }
}

TEST_CASE("execution.round_life: a round that has taken too long ends without its hook, though the reply is lost") {
    stage s;
    s.read("open " + self.str());
    s.now += 1h;
    CHECK(stage::written(s.next()) == "after " + self.str());
    CHECK_FALSE(s.life.committed(s.moment(), error{errc::unknown_outcome, "lost"}).missed_after.empty());
    s.now += 1s;
    s.read("after " + self.str(), 2);
    CHECK(s.next().is == kind::list); // to remove it
}

TEST_CASE("execution.round_life: items that start together are written down as ready, and wait until all are (GU-9)") {
    stage s;
    s.starts_together = true;
    s.read("before " + self.str());
    s.life.note_begun();
    s.life.note_ready(0);
    CHECK(s.next().is == kind::list); // item 1 is not ready
    s.read_notes({});
    CHECK(s.next().until == s.now + 1s);
    s.life.note_ready(1);
    auto const note = s.next();
    REQUIRE(note.is == kind::note);
    CHECK(note.text == "+0 +1 ");
    s.life.noted(s.moment(), note.path);
    s.read_notes({{note.path.name().data(), note.text}, {"10.0.0.2@-@2-b,0", "+2 "}});
    CHECK(s.next().is == kind::rest);
    s.read_notes({{"10.0.0.2@-@2-b,0", "+2 "}, {"10.0.0.2@-@2-b,1", "3 "}}); // that one had nothing to run
    auto const call = s.next();
    REQUIRE(call.is == kind::call);
    CHECK(call.hook == round_hook::before);
    s.life.hook_called(success());
    auto const open = s.next();
    CHECK(stage::written(open) == "open " + self.str());
    CHECK(s.commit(open).missed_before.empty());
    s.read("open " + self.str(), 2);
    s.end_items();
    CHECK(s.next().text == "0 1 "); // and now as dealt with
}

TEST_CASE("execution.round_life: an item that is not ready hides the others for a second at most (GU-9)") {
    stage s;
    s.starts_together = true;
    s.read("before " + older.str());
    s.life.note_ready(0);
    s.items.take(2); // another instance waits with it
    auto const rest = s.next();
    REQUIRE(rest.is == kind::rest);
    CHECK(rest.until == s.now + 1s);
    s.now = rest.until;
    auto const part = s.next();
    REQUIRE(part.is == kind::note);
    CHECK(part.text == "+0 ");
    s.life.noted(s.moment(), part.path);
    CHECK(s.next().until == s.now + 1s);

    s.items.deal(1, due); // it has nothing to run
    CHECK(s.next().is == kind::rest);
    s.now += 1s;
    auto const further = s.next();
    REQUIRE(further.is == kind::note);
    CHECK(further.text == "+1 ");
    s.life.noted(s.moment(), further.path);
    s.now += 2s;
    auto const deadline = s.next();
    CHECK(deadline.is == kind::rest); // there is nothing new to note
    CHECK(deadline.until == mono_time{1h} + 30s);
    s.life.note_ready(2);
    CHECK(s.next().text == "+2 ");
}

TEST_CASE("execution.round_life: items that are not ready in time do not delay the others, and an instance that has "
          "gone is replaced (GU-9)") {
    stage late;
    late.starts_together = true;
    late.read("before " + self.str());
    late.read_notes({});
    late.now += 30s;
    auto const open = late.next();
    CHECK(stage::written(open) == "open " + self.str());
    CHECK(late.commit(open).missed_before == "not all items were ready in time");

    stage next;
    next.starts_together = true;
    next.read("before " + older.str());
    CHECK(next.next().is == kind::rest);
    next.sees_holder = false;
    REQUIRE(next.next().is == kind::look);
    next.life.holder_looked_for(next.moment(), false);
    auto const hold = next.next();
    CHECK(stage::written(hold) == "before " + self.str());
    CHECK(next.commit(hold).missed_before.find(older.str()) != std::string::npos);
    next.read("before " + self.str(), 2);
    next.life.note_ready(0);
    next.life.note_ready(1);
    auto const note = next.next();
    REQUIRE(note.is == kind::note);
    next.life.noted(next.moment(), note.path);
    REQUIRE(next.next().is == kind::list);
    next.read_notes({{"10.0.0.1@-@1-a,0", "+0 +1 "}, {"10.0.0.2@-@2-b,0", "+2 +3 "}});
    CHECK(stage::written(next.next()) == "open " + self.str()); // the hook is not called again
}
