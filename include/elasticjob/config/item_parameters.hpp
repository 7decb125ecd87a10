// SPDX-License-Identifier: Apache-2.0
/// \file \brief What each sharding item is given: `0=Beijing,1=Shanghai`.
#ifndef ELASTICJOB_CONFIG_ITEM_PARAMETERS_HPP
#define ELASTICJOB_CONFIG_ITEM_PARAMETERS_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/deferred.hpp>
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

template <class Value>
class basic_item_parameters;
/// A template only so that including it costs nothing: see docs/decisions/0006.
using item_parameters = basic_item_parameters<std::string>;

template <class Parameters = item_parameters>
result<Parameters> parse_item_parameters(std::string_view text);

/// The parameters of a job's items. Made by `parse_item_parameters`.
template <class Value>
class basic_item_parameters {
public:
    /// The item's parameter, which may be empty, or nothing if it has none. O(log n). The view lives as long as this
    /// object.
    deferred<std::optional<std::string_view>, Value> find(item_index item) const noexcept {
        auto const at = values_.find(item);
        if (at == values_.end()) return std::nullopt;
        return at->second;
    }

    /// How many keys have a value, those included that no item of the job has.
    std::size_t size() const noexcept { return values_.size(); }
    bool empty() const noexcept { return values_.empty(); }

    friend bool operator==(basic_item_parameters const&, basic_item_parameters const&) = default;

private:
    template <class Parameters>
    friend result<Parameters> parse_item_parameters(std::string_view);
    std::map<std::int64_t, Value> values_;
};

namespace detail {

/// The key of an item as Java reads it: 32 bits with a sign, which may be a plus. Gives whether it is one.
template <class = void>
bool read_item_key(std::string_view text, int& key) noexcept {
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    return read_number(text, key);
}

} // namespace detail

/// Reads `0=A,1=B` as Java does, so that the members of a job agree on what is a mistake: blanks around keys and values
/// do not count, the last of several values for one key wins, keys beyond the job's items (and below 0) are allowed,
/// and so are commas at the end and one `=` too many behind a value. An empty text has no parameters.
///
/// Errors: invalid_config, if a piece is not `key=value` or a key is not a number.
template <class Parameters>
result<Parameters> parse_item_parameters(std::string_view text) {
    auto refuse = [](std::string why) { return error{errc::invalid_config, std::move(why), "shardingItemParameters"}; };
    Parameters parameters;
    if (text.empty()) return parameters;
    using view = deferred<std::string_view, Parameters>;
    for (auto const piece : detail::split<view>(text, ",")) {
        auto const sides = detail::split<view>(detail::trim(piece), "=");
        if (sides.size() != 2)
            return refuse("Sharding item parameters " + detail::in_quotes(text) +
                          " format error, should be int=xx,int=xx");
        int key{};
        if (!detail::read_item_key(detail::trim(sides[0]), key))
            return refuse("Sharding item parameters key " + detail::in_quotes(sides[0]) + " is not an integer.");
        parameters.values_.insert_or_assign(key, detail::trim(sides[1]));
    }
    return parameters;
}

} // namespace elasticjob
#endif // ELASTICJOB_CONFIG_ITEM_PARAMETERS_HPP
