// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_PLAN_IPP
#define ELASTICJOB_IMPL_OPERATIONS_PLAN_IPP

#include <elasticjob/operations/plan.hpp>

namespace elasticjob {

ELASTICJOB_DECL std::string to_text(job_plan const& p) {
    auto const name = [](instance_id const& id) { return id.str().empty() ? std::string{"nobody"} : id.str(); };
    auto text = std::to_string(p.moved) + (p.moved == 1 ? " item moves, " : " items move, ") + std::to_string(p.kept) +
                " stay, " + std::to_string(p.left) + " have no owner, " + std::to_string(p.cut) + " no longer exist\n";
    for (auto const& m : p.moves) {
        text += m.end - m.begin == 1 ? "item " + std::to_string(m.begin)
                                     : "items " + std::to_string(m.begin) + " to " + std::to_string(m.end - 1);
        text += ": from " + name(m.from) + " to " + name(m.to) + "\n";
    }
    for (auto const& s : p.shares)
        text += name(s.instance) + ": " + std::to_string(s.now) + " -> " + std::to_string(s.then) + "\n";
    return text;
}

} // namespace elasticjob

namespace elasticjob::detail {

ELASTICJOB_DECL owners_of_now owners_from(item_nodes const& nodes) {
    owners_of_now now;
    for (item_index i = 0; i != nodes.end(); ++i) {
        auto slot = no_slot;
        if (auto id = instance_id::parse(nodes.has_owner_node(i) ? nodes.owner(i) : std::string{})) {
            auto const known = std::find(now.instances.begin(), now.instances.end(), *id);
            slot = static_cast<slot_index>(known - now.instances.begin());
            if (known == now.instances.end()) now.instances.push_back(*std::move(id));
        }
        if (now.runs.empty() || now.runs.back().owner != slot) now.runs.push_back({i, slot});
        now.runs.back().end = i + 1;
    }
    return now;
}

ELASTICJOB_DECL result<instance_id> id_of(job_change::joiner const& fresh) {
    auto text = fresh.instance;
    if (text.find(identity_delimiter) == text.npos) text.append(identity_delimiter).append("new");
    return instance_id::parse(text);
}

ELASTICJOB_DECL result<std::vector<instance_id>> imagined(std::vector<instance_id> there, job_change const& change) {
    for (auto const& gone : change.leaving) {
        auto const at = std::find_if(there.begin(), there.end(), [&](auto const& id) { return id.str() == gone; });
        if (at == there.end()) return error{errc::invalid_argument, "no such instance is available", gone};
        there.erase(at);
    }
    for (auto const& fresh : change.joining) {
        ELASTICJOB_TRY(auto id, id_of(fresh));
        if (std::find(there.begin(), there.end(), id) != there.end())
            return error{errc::invalid_argument, "the instance exists already", id.str()};
        there.push_back(std::move(id));
    }
    std::sort(there.begin(), there.end(), std::greater<>{});
    return there;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_OPERATIONS_PLAN_IPP
