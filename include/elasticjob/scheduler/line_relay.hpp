// SPDX-License-Identifier: Apache-2.0
/// \file \brief Passes the lines of a run from a thread of the pool to the loop.
#ifndef ELASTICJOB_SCHEDULER_LINE_RELAY_HPP
#define ELASTICJOB_SCHEDULER_LINE_RELAY_HPP

#include <elasticjob/core/loop.hpp>
#include <elasticjob/execution/sharding_context.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// Calls `tell(stream, text, dropped, lost)` on the loop for each line, in order. A limited number of lines may wait
/// for the loop. Further lines are lost, and their number is reported after the others, without text. If its thread
/// posts work to the loop after the last line, that work also runs after the line; this object must live until then.
/// Threads: lines from any; the rest on the loop.
template <loop Loop, class Tell>
class line_relay : public line_port, work {
public:
    static constexpr std::size_t lines_max = 1'024, bytes_max = 262'144;

    line_relay(Loop& l, Tell f) : line_port{&put}, work{&act_on}, loop_{l}, tell_{std::move(f)} {}
    line_relay(line_relay const&) = delete;
    line_relay& operator=(line_relay const&) = delete;

private:
    struct line {
        script_stream stream;
        std::string text;
        std::size_t dropped;
    };
    struct batch {
        std::vector<line> lines{};
        std::size_t bytes = 0;
        std::uint64_t lost = 0;
        bool is_posted = false;
    };

    static void put(line_port& port, script_stream stream, std::string_view text, std::size_t dropped);

    static void act_on(work& w, work_action action);

    Loop& loop_;
    Tell tell_;
    std::mutex mutex_;
    batch waiting_;
};

template <loop Loop, class Tell>
void line_relay<Loop, Tell>::put(line_port& port, script_stream stream, std::string_view text, std::size_t dropped) {
    auto& self = static_cast<line_relay&>(port);
    {
        std::lock_guard const lock{self.mutex_};
        auto& b = self.waiting_;
        if (b.lines.size() == lines_max || text.size() > bytes_max - b.bytes) {
            ++b.lost;
        } else {
            b.lines.push_back({stream, std::string{text}, dropped});
            b.bytes += text.size();
        }
        if (std::exchange(b.is_posted, true)) return;
    }
    self.loop_.post(self);
}

template <loop Loop, class Tell>
void line_relay<Loop, Tell>::act_on(work& w, work_action action) {
    auto& self = static_cast<line_relay&>(w);
    auto const all = [&] {
        std::lock_guard const lock{self.mutex_};
        return std::exchange(self.waiting_, {});
    }();
    if (action == work_action::discard) return;
    for (auto const& one : all.lines) self.tell_(one.stream, one.text, one.dropped, std::uint64_t{0});
    if (all.lost != 0) self.tell_(script_stream::out, {}, std::size_t{0}, all.lost);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_LINE_RELAY_HPP
