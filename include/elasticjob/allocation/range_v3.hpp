// SPDX-License-Identifier: Apache-2.0
/// \file \brief Makes the ranges of items views for range-v3. For the standard library they are views without this
/// header.
#ifndef ELASTICJOB_ALLOCATION_RANGE_V3_HPP
#define ELASTICJOB_ALLOCATION_RANGE_V3_HPP

#include <elasticjob/allocation/owned_items.hpp>
#include <elasticjob/allocation/run_list.hpp>
#include <elasticjob/allocation/shard_range.hpp>

#include <range/v3/range/concepts.hpp>

template <>
inline constexpr bool ranges::enable_view<elasticjob::shard_range> = true;
template <>
inline constexpr bool ranges::enable_view<elasticjob::run_items> = true;
template <class Allocation>
inline constexpr bool ranges::enable_view<elasticjob::owned_items<Allocation>> = true;

template <>
inline constexpr bool ranges::enable_borrowed_range<elasticjob::shard_range> = true;
template <>
inline constexpr bool ranges::enable_borrowed_range<elasticjob::run_items> = true;
template <class Allocation>
inline constexpr bool ranges::enable_borrowed_range<elasticjob::owned_items<Allocation>> = true;

#endif // ELASTICJOB_ALLOCATION_RANGE_V3_HPP
