// SPDX-License-Identifier: Apache-2.0
/// \file \brief Splits the output of a program into lines, within limits.
#ifndef ELASTICJOB_EXECUTION_OUTPUT_LINES_HPP
#define ELASTICJOB_EXECUTION_OUTPUT_LINES_HPP

#include <elasticjob/core/decl.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob::detail {

/// One stream. `emit(text, dropped)` is called for each line; see script_line.
class output_lines {
public:
    /// `budget`, the number of bytes that may still be emitted, is shared with the other stream.
    output_lines(std::size_t line_max, std::size_t& budget) noexcept : line_max_{line_max}, budget_{budget} {}

    template <class Emit>
    void feed(std::string_view bytes, Emit const& emit) {
        while (!bytes.empty()) {
            auto const end = bytes.find('\n');
            auto const part = bytes.substr(0, end);
            auto const kept = std::min(part.size(), line_max_ - line_.size());
            line_.append(part.substr(0, kept));
            dropped_ += part.size() - kept;
            is_open_ = true;
            if (end == bytes.npos) return;
            finish_line(emit);
            bytes.remove_prefix(end + 1);
        }
    }

    /// The stream has ended. A last line without a line break counts too.
    template <class Emit>
    void finish(Emit const& emit) {
        if (is_open_) finish_line(emit);
        if (unheard_ != 0) emit(std::string_view{}, std::exchange(unheard_, 0));
    }

private:
    template <class Emit>
    void finish_line(Emit const& emit) {
        auto const all = line_.size() + dropped_;
        if (budget_ == 0) {
            unheard_ += all + 1;
        } else {
            auto const text = std::string_view{line_}.substr(0, budget_);
            budget_ -= std::min(budget_, text.size() + 1);
            emit(text, all - text.size());
        }
        line_.clear();
        dropped_ = 0;
        is_open_ = false;
    }

    std::size_t line_max_;
    std::size_t& budget_;
    std::string line_;
    std::size_t dropped_ = 0; ///< bytes of this line
    std::size_t unheard_ = 0; ///< bytes of whole lines
    bool is_open_ = false;    ///< a line has begun, perhaps an empty one
};

/// The last output of a program, for one line of a log: UTF-8 without control characters.
class last_words {
public:
    void hear(std::string_view bytes);

    /// The last complete lines, separated by ` | `; the whole text if it is a single long line.
    std::string text() const;

private:
    static constexpr std::size_t bytes_max = 1'024;
    std::string said_;
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/output_lines.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_OUTPUT_LINES_HPP
