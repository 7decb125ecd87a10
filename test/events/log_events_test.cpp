// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/events/log_events.hpp>

#include <support/standard_error.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

using namespace elasticjob;
using test::written_by;

namespace {

instance_id const id = instance_id::parse("10.0.0.1@-@7").value();
events::origin const from{"settle", id};
LogEvents const tell;

} // namespace

TEST_CASE("events.log_events: what needs attention is one line each") {
    std::optional<error> const failure{error{errc::job_threw, "out of paper"}};
    error const away{errc::unreachable, "no server", "/settle"};
    CHECK(written_by([&] { tell(events::item_finished{from, 3, {}, {}, failure}); }) ==
          "elasticjob: settle [10.0.0.1@-@7]: item 3 failed: job_threw: out of paper\n");
    CHECK(written_by([&] { tell(events::item_skipped{from, 3, {}, events::skip_reason::disabled}); }) ==
          "elasticjob: settle [10.0.0.1@-@7]: item 3 was skipped: disabled\n");
    CHECK(written_by([&] { tell(events::trouble{from, away}); }) ==
          "elasticjob: settle [10.0.0.1@-@7]: unreachable: no server (/settle)\n");
    CHECK(written_by([&] { tell(events::joined{from, "cron is a, not b"}); }) ==
          "elasticjob: settle [10.0.0.1@-@7]: cron is a, not b\n");
}

TEST_CASE("events.log_events: what goes well is not worth a line") {
    std::optional<error> const none;
    std::vector<item_index> const items{1, 2};
    CHECK(written_by([&] {
              tell(events::joined{from, ""});
              tell(events::item_started{from, 1, {}});
              tell(events::item_finished{from, 1, {}, {}, none});
              tell(events::leadership_changed{from, true});
              tell(events::resharded{from, 1, 2, 3, 4});
              tell(events::share_changed{from, items});
              tell(events::left{from});
          }).empty());
}
