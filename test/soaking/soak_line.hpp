// SPDX-License-Identifier: Apache-2.0
/// \file \brief `soak_line`: one line of the log of a soak.
#ifndef ELASTICJOB_TEST_SOAKING_SOAK_LINE_HPP
#define ELASTICJOB_TEST_SOAKING_SOAK_LINE_HPP

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::test {

/// `<steady clock, microseconds> <who> <job> <verb> <words>`. Workers say what cluster/worker.cpp lists. The driver and
/// the tree add these, where J is the column of the job:
///
///     driver - limits SESSION_MS TICK_MS SLACK_MS    · driver J job ITEMS STEP_S FAILOVER full|loose
///     driver - started W IP JOB… · killed W · terminated W · ended W HOW · crashed W HOW
///     driver - frozen W · thawed W                             a process
///     driver - cut W · slowed W · mended W                     its connections
///     driver - disturbed WHAT · stood_still N · whole          the ensemble
///     driver - fault KIND · refused KIND                       counted, and nothing else
///     driver J accounted MS · edited MS STEP_S · ordered REVISION MS · off IP · on IP · removed · restored
///     driver - rest MS, lines of the tree's nodes, driver - rested (or: over, when all have left)
///     tree J record ITEM VERSION REVISION TEXT · leader ID (- if there is none) · node PATH SESSION DATA
///
/// MS is in milliseconds since 1970. TEXT and DATA are escaped, and `-` if empty.
struct soak_line {
    std::int64_t at_us = 0;
    std::string who{}, job{}, verb{};
    std::vector<std::string> words{};
    std::string text{};

    static std::optional<soak_line> parse(std::string text) {
        soak_line l;
        std::istringstream in{text};
        if (!(in >> l.at_us >> l.who >> l.job >> l.verb)) return std::nullopt;
        for (std::string w; in >> w;) l.words.push_back(std::move(w));
        l.text = std::move(text);
        return l;
    }

    std::string const& word(std::size_t n) const {
        static std::string const none;
        return n < words.size() ? words[n] : none;
    }
    /// 0 if the word is no number.
    std::int64_t number(std::size_t n) const {
        std::int64_t value = 0;
        auto const& w = word(n);
        (void)std::from_chars(w.data(), w.data() + w.size(), value);
        return value;
    }
};

/// Free text as one word.
inline std::string escaped(std::string_view text) {
    std::string word;
    for (char const c : text) {
        switch (c) {
        case '\n':
            word += "\\n";
            break;
        case ' ':
            word += "\\s";
            break;
        case '\\':
            word += "\\\\";
            break;
        default:
            word += c;
        }
    }
    return word.empty() ? "-" : word;
}

inline std::string unescaped(std::string_view word) {
    if (word == "-") return {};
    std::string text;
    for (std::size_t n = 0; n < word.size(); ++n) {
        if (word[n] != '\\' || n + 1 == word.size()) {
            text += word[n];
            continue;
        }
        char const c = word[++n];
        text += c == 'n' ? '\n' : c == 's' ? ' ' : c;
    }
    return text;
}

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SOAKING_SOAK_LINE_HPP
