// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_TESTING_LIBRARY_VERSION_IPP
#define ELASTICJOB_IMPL_TESTING_LIBRARY_VERSION_IPP

#include <elasticjob/testing/library_version.hpp>

#include <elasticjob/execution/run_record.hpp>

#include <algorithm>
#include <utility>

namespace elasticjob::testing::detail {

inline constexpr std::string_view record_folder = "/ext/run/", order_folder = "/ext/orders";

/// Calls `each` with every line, which contains its line break. The first line, the header, belongs to every version.
template <class Each>
void for_each_line(std::string_view text, Each each) {
    for (bool is_header = true; !text.empty(); is_header = false) {
        auto const line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
        text.remove_prefix(line.size());
        each(line, is_header);
    }
}

/// The entries of a line `entries`, each in a line `entry`, as `run_record` writes the newest ones.
inline std::string in_own_lines(std::string_view header, std::string_view entries) {
    std::string lines;
    auto const shared = run_record::parse(std::string{header}.append(entries));
    if (!shared) return lines;
    for (auto const& e : shared->ledger) {
        run_record only;
        only.ledger.push_back(e);
        for_each_line(only.to_text(), [&](std::string_view line, bool) {
            if (line.starts_with("entry ")) lines.append(line);
        });
    }
    return lines;
}

/// The name of the order whose node that is; empty if it is another node.
inline std::string_view order_of(std::string_view path) {
    auto const at = path.rfind('/');
    return path.substr(0, at).ends_with(order_folder) ? path.substr(at + 1) : std::string_view{};
}

} // namespace elasticjob::testing::detail

namespace elasticjob::testing {

ELASTICJOB_DECL bool library_version::knows_line(std::string_view line) const noexcept {
    auto const key = line.substr(0, line.find(' '));
    return knows_all || std::find(record_lines.begin(), record_lines.end(), key) != record_lines.end();
}

ELASTICJOB_DECL bool library_version::knows_order(std::string_view order) const noexcept {
    auto const begins_it = [&](std::string_view known) { return order.starts_with(known); };
    return knows_all || std::any_of(orders.begin(), orders.end(), begins_it);
}

ELASTICJOB_DECL std::string library_version::as_read(std::string_view record) const {
    std::string text;
    detail::for_each_line(record, [&](std::string_view line, bool is_header) {
        if (is_header || knows_line(line)) text.append(line);
    });
    return text;
}

ELASTICJOB_DECL std::string library_version::as_written(std::string_view record) const {
    std::string text;
    std::string_view header;
    detail::for_each_line(record, [&](std::string_view line, bool is_header) {
        if (is_header) header = line;
        if (is_header || knows_line(line))
            text.append(line);
        else if (line.starts_with("entries ") && knows_line("entry"))
            text.append(detail::in_own_lines(header, line));
    });
    return text;
}

ELASTICJOB_DECL void version_translation::translate(std::vector<operation>& operations) {
    if (version_.knows_all) return;
    for (auto& o : operations) {
        bool const writes = o.what == operation::kind::set || o.what == operation::kind::create;
        if (!writes || o.path.str().find(detail::record_folder) == std::string::npos) continue;
        auto translated = version_.as_written(o.data);
        own_.insert_or_assign(o.path.str(), std::exchange(o.data, std::move(translated)));
    }
}

ELASTICJOB_DECL void version_translation::translate(std::string_view path, wire_answer& answer) {
    if (version_.knows_all || answer.was_lost) return;
    if (path.ends_with(detail::order_folder))
        std::erase_if(answer.names, [&](std::string const& order) { return !version_.knows_order(order); });
    if (auto const order = detail::order_of(path); !order.empty() && !version_.knows_order(order)) answer.found.reset();
    if (!answer.found || path.find(detail::record_folder) == path.npos) return;
    auto& text = answer.found->data;
    auto const own = own_.find(path);
    if (own != own_.end() && version_.as_written(own->second) == text)
        text = own->second;
    else
        text = version_.as_read(text);
}

} // namespace elasticjob::testing
#endif // ELASTICJOB_IMPL_TESTING_LIBRARY_VERSION_IPP
