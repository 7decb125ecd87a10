// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_ADDRESS_MASK_IPP
#define ELASTICJOB_IMPL_OPERATIONS_ADDRESS_MASK_IPP

#include <elasticjob/operations/address_mask.hpp>

namespace elasticjob {

ELASTICJOB_DECL std::string address_mask::operator()(std::string line) {
    if (how_ == address_masking::none) return line;
    bool const is_old = how_ == address_masking::as_2_1_5;
    std::string_view const original{line};
    std::string masked = is_old ? line : std::string{};
    std::size_t copied = 0;
    for (auto at = find_digit(original, 0); at < original.size(); at = find_digit(original, at)) {
        auto const length = detail::address_length(original.substr(at), is_old);
        auto const address = original.substr(at, length);
        if (length != 0 && is_old) {
            replace_all(masked, address, name_for(address));
        } else if (length != 0) {
            masked.append(original.substr(copied, at - copied)).append(name_for(address));
            copied = at + length;
        }
        at += std::max(length, std::size_t{1});
    }
    return is_old ? masked : masked.append(original.substr(copied));
}

ELASTICJOB_DECL std::size_t address_mask::find_digit(std::string_view text, std::size_t from) {
    while (from < text.size() && !detail::is_digit(text[from])) ++from;
    return from;
}

ELASTICJOB_DECL std::string const& address_mask::name_for(std::string_view address) {
    auto known = names_.find(address);
    if (known == names_.end()) known = names_.emplace(address, "ip" + std::to_string(names_.size() + 1)).first;
    return known->second;
}

ELASTICJOB_DECL void address_mask::replace_all(std::string& text, std::string_view what, std::string const& with) {
    for (auto at = text.find(what); at != text.npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_OPERATIONS_ADDRESS_MASK_IPP
