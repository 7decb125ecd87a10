// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_RUN_BOOK_IPP
#define ELASTICJOB_IMPL_EXECUTION_RUN_BOOK_IPP

#include <elasticjob/execution/run_book.hpp>

#include <elasticjob/execution/run_record.hpp>

namespace elasticjob {

ELASTICJOB_DECL bool is_own_mark(node const& mark, instance_id const& self, session_view const& session) {
    return session.id != 0 && mark.stat.owner == session.id && mark.data == self.str();
}

} // namespace elasticjob

namespace elasticjob::detail {

ELASTICJOB_DECL end_step step_after_reading(result<node> const& there, run_end const& e, bool is_reply_lost) {
    if (there) {
        if (there->stat.version == e.version) return end_step::write;
        if (there->stat.version == e.version + 1 && there->data == e.record) return end_step::done;
        return tells_of_end(there->data, e.record) ? end_step::done_before : end_step::fenced;
    }
    auto const why = there.error().code;
    if (why == errc::no_node) return is_reply_lost ? end_step::done_before : end_step::fenced;
    if (is_connection(why)) return end_step::read_again;
    return why == errc::session_lost || why == errc::closed ? end_step::session_over : end_step::refused;
}

ELASTICJOB_DECL end_step step_after_writing(result<commit_reply> const& reply) {
    if (reply || is_lost(reply)) return end_step::read_again;
    auto const why = reply.error().code;
    return why == errc::session_lost || why == errc::closed ? end_step::session_over : end_step::refused;
}

ELASTICJOB_DECL bool tells_of_end(std::string_view later, std::string_view ended) {
    auto const ours = run_record::parse(ended), theirs = run_record::parse(later);
    if (!ours || !theirs || ours->running || ours->ledger.empty()) return false;
    auto const& all = theirs->ledger;
    return std::find(all.begin(), all.end(), ours->ledger.back()) != all.end();
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EXECUTION_RUN_BOOK_IPP
