// SPDX-License-Identifier: Apache-2.0
/// \file \brief The parameter of each sharding item: `0=Beijing,1=Shanghai`.
#ifndef ELASTICJOB_CONFIG_ITEM_PARAMETERS_HPP
#define ELASTICJOB_CONFIG_ITEM_PARAMETERS_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp> // item_index
#include <elasticjob/core/result.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob {

/// The parameters of a job's items. Made by `parse_item_parameters`.
class item_parameters {
public:
    /// The item's parameter, which may be empty; nothing if the item has none. O(log n). The view is valid as long as
    /// this object.
    std::optional<std::string_view> find(item_index item) const noexcept {
        auto const at = values_.find(item);
        if (at == values_.end()) return std::nullopt;
        return at->second;
    }

    /// The number of keys, including keys beyond the job's items.
    std::size_t size() const noexcept { return values_.size(); }
    bool empty() const noexcept { return values_.empty(); }

    friend bool operator==(item_parameters const&, item_parameters const&) = default;

private:
    friend result<item_parameters> parse_item_parameters(std::string_view);
    std::map<std::int64_t, std::string> values_;
};

namespace detail {

/// Parses the key of an item as Java does: a signed 32-bit number, which may have a plus sign. Returns false if the
/// text is no such number.
bool read_item_key(std::string_view text, int& key) noexcept;

} // namespace detail

/// Parses `0=A,1=B` as Java does, so that all members of a job accept the same texts. Ignores blanks around keys and
/// values. If a key occurs several times, its last value counts. Accepts keys that are negative or beyond the job's
/// items, commas at the end, and one extra `=` after a value. An empty text has no parameters.
///
/// Errors: invalid_config if a piece does not have the form `key=value` or a key is not a number.
result<item_parameters> parse_item_parameters(std::string_view text);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/item_parameters.ipp>
#endif
#endif // ELASTICJOB_CONFIG_ITEM_PARAMETERS_HPP
