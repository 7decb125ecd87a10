// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_DEAD_LETTERS_IPP
#define ELASTICJOB_IMPL_OPERATIONS_DEAD_LETTERS_IPP

#include <elasticjob/events/text_forms.hpp>
#include <elasticjob/operations/dead_letters.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL command_title title_of(dead_letter_verdict verdict, item_index item, wall_time due) {
    std::string verb{verdict == dead_letter_verdict::run_again ? "run again" : "discard"};
    return {std::move(verb), "item " + item_name(item) + ", due " + format_instant(due)};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_OPERATIONS_DEAD_LETTERS_IPP
