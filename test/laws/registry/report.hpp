// SPDX-License-Identifier: Apache-2.0
/// \file \brief The reports of the laws of registries, and how a law runs under a limit.
#ifndef ELASTICJOB_TEST_LAWS_REGISTRY_REPORT_HPP
#define ELASTICJOB_TEST_LAWS_REGISTRY_REPORT_HPP

#include <elasticjob/core/block_on.hpp>
#include <elasticjob/core/path.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/task.hpp>

#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace laws {

/// The broken expectation, or nothing. A report instead of an assertion, so that a law can itself be tested: it must
/// detect a registry that breaks it.
struct [[nodiscard]] law_report {
    std::string broken{};
    bool holds() const noexcept { return broken.empty(); }
};

inline law_report kept() { return law_report{}; }

/// The place, the expectation, and the actual result.
inline law_report broken(std::string_view file, int line, std::string_view expected, std::string_view instead = {}) {
    law_report report;
    report.broken.append(file.substr(file.rfind('/') + 1)).append(":").append(std::to_string(line)).append(": ");
    report.broken.append(expected);
    if (!instead.empty()) report.broken.append(": ").append(instead);
    return report;
}

template <class T>
std::string text_of(elasticjob::result<T> const& r) {
    return r.has_value() ? std::string{"success"} : to_string(r.error());
}

template <class T>
bool fails_with(elasticjob::result<T> const& r, elasticjob::errc code) {
    return !r.has_value() && r.error() == code;
}

/// A path in a law's own tree.
inline elasticjob::node_path at(std::string_view text) { return elasticjob::node_path::parse(text).value(); }

namespace detail {

template <class Signal>
elasticjob::task<> note_report(elasticjob::task<law_report> law, std::optional<law_report>& report, Signal& done) {
    try {
        report = co_await std::move(law);
    } catch (std::exception const& e) {
        report = law_report{std::string{"an exception: "} + e.what()};
    }
    done.notify();
}

template <class Loop>
elasticjob::task<elasticjob::result<law_report>> within(Loop& l, elasticjob::task<law_report> law,
                                                        std::chrono::milliseconds limit) {
    std::optional<law_report> report;
    elasticjob::event_count<Loop> done{l};
    elasticjob::task_scope scope;
    auto const seen = done.edition();
    scope.spawn(note_report(std::move(law), report, done));
    co_await done.newer_than(seen, l.now() + limit);
    if (!report) co_return law_report{"it did not end within the limit"};
    co_return std::move(*report);
}

} // namespace detail

/// Runs a law, or any coroutine that returns a report, on a loop, and waits for the report up to the limit.
template <class Loop>
law_report run_within(Loop& l, elasticjob::task<law_report> law, std::chrono::milliseconds limit) {
    auto report = block_on(l, detail::within(l, std::move(law), limit));
    if (!report) return law_report{to_string(report.error())};
    return std::move(*report);
}

} // namespace laws

// For use inside a law; each is a whole statement in braces or at the top level. The arguments must not await: g++ 12
// copies temporaries of such expressions bitwise.
#define LAW(...)                                                                                                       \
    if (!(__VA_ARGS__)) co_return ::laws::broken(__FILE__, __LINE__, #__VA_ARGS__)
#define LAW_SUCCEEDS(outcome)                                                                                          \
    if (!(outcome).has_value())                                                                                        \
    co_return ::laws::broken(__FILE__, __LINE__, #outcome " succeeds", ::laws::text_of(outcome))
#define LAW_FAILS(outcome, code)                                                                                       \
    if (!::laws::fails_with(outcome, code))                                                                            \
    co_return ::laws::broken(__FILE__, __LINE__, #outcome " fails with " #code, ::laws::text_of(outcome))

#endif // ELASTICJOB_TEST_LAWS_REGISTRY_REPORT_HPP
