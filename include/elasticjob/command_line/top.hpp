// SPDX-License-Identifier: Apache-2.0
/// \file \brief `elasticjob top`: the jobs, or the items of a job, on a screen that follows their changes.
#ifndef ELASTICJOB_COMMAND_LINE_TOP_HPP
#define ELASTICJOB_COMMAND_LINE_TOP_HPP

#include <elasticjob/command_line/answer.hpp>
#include <elasticjob/command_line/change_feed.hpp>
#include <elasticjob/command_line/item_commands.hpp>
#include <elasticjob/command_line/job_commands.hpp>
#include <elasticjob/command_line/terminal.hpp>
#include <elasticjob/core/decl.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace elasticjob::cli {

inline constexpr command_shape top_shape{"top", "the jobs, or the items of a job, and how they change; q ends it",
                                         takes::any_job | takes::interval};

/// The part of an answer that the screen shows.
class top_view {
public:
    explicit top_view(std::string name_space) : name_space_{std::move(name_space)} {}

    void take(answer found) { found_ = std::move(found); }

    /// Handles a key. Returns whether it ends the view. Space and b turn pages, j and k move by a line.
    bool ends_by(char key, std::size_t lines);

    /// A title, and as much of the table as fits. If something has failed, the last line says so instead.
    std::string text(arguments const& a, wall_time now, terminal::extent size, table_style style) const;

private:
    std::string name_space_;
    answer found_{};
    std::size_t first_ = 0;
};

/// Shows the view until the operator ends it. Reads when something changes, at most once a second, and otherwise at
/// each interval. If a read fails, the screen shows the error, and the read is repeated. Precondition: `t` is a
/// terminal for input and output.
template <loop Loop>
exit_code show_top(registry_ref<Loop> r, terminal& t, arguments a, std::string name_space, table_style style) {
    using kind = screen_news::kind;
    constexpr std::uint32_t rows_max = 1'000;
    auto stale = elasticjob::detail::event_descriptor::make();
    if (!stale) {
        auto const refused = failure(stale.error());
        t.write_message(refused.messages);
        return refused.code;
    }
    a.limit = rows_max;
    top_view view{std::move(name_space)};
    change_feed<Loop> feed{r};
    look_pace pace;
    live_screen screen{t, *std::move(stale)};
    for (bool is_stale = true, has_changed = false;;) {
        if (is_stale) {
            pace.begin();
            auto const armed = feed.arm(takes::item_range, a);
            view.take(!armed          ? failure(armed.error())
                      : a.job.empty() ? detail::list_jobs(r, a)
                                      : detail::list_items(r, a));
            has_changed = false;
        }
        screen.draw(view.text(a, std::chrono::system_clock::now(), t.size(), style));
        if (t.has_failed()) return exit_code::failed;
        auto const news = has_changed ? screen.wait(-1, pace.left())
                                      : screen.wait(feed.descriptor(), std::chrono::milliseconds{a.interval_ms});
        bool const is_end = news.what == kind::key && view.ends_by(news.key, t.size().lines);
        if (is_end || news.what == kind::closed) return exit_code::done;
        has_changed |= news.what == kind::changed;
        is_stale = news.what == kind::interval || (has_changed && pace.left().count() == 0);
    }
}

} // namespace elasticjob::cli

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/command_line/top.ipp>
#endif
#endif // ELASTICJOB_COMMAND_LINE_TOP_HPP
