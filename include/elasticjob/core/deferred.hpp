// SPDX-License-Identifier: Apache-2.0
/// \file \brief A type that a template names, and the compiler completes only when the template is used.
#ifndef ELASTICJOB_CORE_DEFERRED_HPP
#define ELASTICJOB_CORE_DEFERRED_HPP

namespace elasticjob {

namespace detail {

template <class T, class>
struct deferred_until {
    using type = T;
};

} // namespace detail

/// `T` itself. But it seems to depend on `Parameter`, one of the template that it stands in, so that including that
/// template costs nothing for it: see docs/decisions/0006. For the containers that a template is made of.
template <class T, class Parameter>
using deferred = typename detail::deferred_until<T, Parameter>::type;

} // namespace elasticjob
#endif // ELASTICJOB_CORE_DEFERRED_HPP
