// SPDX-License-Identifier: Apache-2.0
/// \file \brief Which rounds of another job a job is due for: what stands in the node `ext/after`.
#ifndef ELASTICJOB_CONFIG_FOLLOWED_ROUNDS_HPP
#define ELASTICJOB_CONFIG_FOLLOWED_ROUNDS_HPP

#include <elasticjob/config/instant_text.hpp>
#include <elasticjob/config/job_schedule.hpp>
#include <elasticjob/config/schedule_text.hpp> // read_followed
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/result.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob {

/// One round of the job that is followed.
struct followed_round {
    wall_time due{}; ///< when the job that follows is due for it
    wall_time of{};  ///< the due instant of the round

    friend bool operator==(followed_round const&, followed_round const&) = default;
};

/// Written by the leader of the job that follows, each time against the version that it has read: so each round stands
/// here once at most, whoever leads. `last` outlives what is followed: no instant is given twice. A value; its functions
/// only keep it in shape.
template <class Round = followed_round>
struct basic_followed_rounds {
    std::string job{};           ///< that is followed; empty: none
    round_end after{};           ///< which of its rounds count
    wall_time seen{};            ///< of the rounds due up to here, all that count have been written down
    wall_time last{};            ///< the instants to come are later than this
    std::vector<Round> rounds{}; ///< the last of them, ascending in both times

    static constexpr std::size_t rounds_max = 100;

    bool is_of(job_schedule const* s) const { return s ? job == s->job && after == s->after : job.empty(); }

    /// From now on another job is followed, or none, or another end counts. What it was due for by another job is
    /// nobody's business any more.
    void follow(job_schedule const* s) {
        if (!s || job != s->job) rounds.clear();
        job = s ? s->job : std::string{};
        after = s ? s->after : round_end{};
        seen = {};
    }

    /// A round is over that counts. Precondition: `of` is later than `seen`.
    void add(wall_time of, wall_time due) {
        seen = of;
        last = std::max<wall_time>(last + std::chrono::milliseconds{1},
                                   std::chrono::floor<std::chrono::milliseconds>(due));
        if (rounds.size() >= rounds_max) rounds.erase(rounds.begin());
        rounds.push_back({last, of});
    }

    std::string to_text() const {
        std::string text{header};
        auto const line = [&](std::string_view key, std::string const& value) {
            text.append(key).append(" ").append(value).append("\n");
        };
        if (!job.empty()) line("follows", detail::followed_text(job_schedule::after_job(job, after)));
        line("seen", detail::milliseconds_text(seen));
        line("last", detail::milliseconds_text(last));
        for (auto const& r : rounds)
            line("round", detail::milliseconds_text(r.due) + " " + detail::milliseconds_text(r.of));
        return text;
    }

    /// Errors: malformed_data, naming the line. Lines of a later version's kinds are passed over.
    static result<basic_followed_rounds> parse(std::string_view text) {
        auto const refuse = [](std::string_view line) {
            return error{errc::malformed_data, "not a line of followed rounds", std::string{line}};
        };
        if (!text.starts_with(header)) return refuse(text.substr(0, text.find('\n')));
        text.remove_prefix(header.size());
        basic_followed_rounds all;
        while (!text.empty()) {
            auto const line = text.substr(0, text.find('\n'));
            text.remove_prefix(line.size() == text.size() ? line.size() : line.size() + 1);
            if (!read_line(line, all)) return refuse(line);
        }
        return all;
    }

    friend bool operator==(basic_followed_rounds const&, basic_followed_rounds const&) = default;

private:
    static constexpr std::string_view header = "elasticjob after 1\n";

    static bool read_line(std::string_view rest, basic_followed_rounds& into) {
        auto const key = detail::take_word(rest);
        if (key == "seen") return detail::read_milliseconds(rest, into.seen);
        if (key == "last") return detail::read_milliseconds(rest, into.last);
        if (key == "follows") {
            job_schedule s;
            if (!detail::read_followed(rest, s)) return false;
            into.job = s.job;
            into.after = s.after;
        }
        if (key != "round") return true;
        auto& r = into.rounds.emplace_back();
        auto const due = detail::take_word(rest);
        return detail::read_milliseconds(due, r.due) && detail::read_milliseconds(rest, r.of);
    }
};

/// A template only so that including it costs nothing: see docs/decisions/0006.
using followed_rounds = basic_followed_rounds<>;

} // namespace elasticjob
#endif // ELASTICJOB_CONFIG_FOLLOWED_ROUNDS_HPP
