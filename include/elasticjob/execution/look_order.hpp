// SPDX-License-Identifier: Apache-2.0
/// \file \brief Tells the owner of an item that an operator or the leader has written to the item's record.
#ifndef ELASTICJOB_EXECUTION_LOOK_ORDER_HPP
#define ELASTICJOB_EXECUTION_LOOK_ORDER_HPP

#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/transaction.hpp>

#include <optional>

namespace elasticjob::detail {

/// Makes the owner read the record again (TR-5). An existing order is written again: the owner may just have read the
/// record in its former state, and then cannot remove the order.
inline void put_look_order(transaction& t, job_layout const& at, item_index item, std::optional<node> const& there) {
    if (there)
        t.set(at.look_order(item), {}, there->stat.version);
    else
        t.create(at.look_order(item), {});
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_EXECUTION_LOOK_ORDER_HPP
