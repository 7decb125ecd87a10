// SPDX-License-Identifier: Apache-2.0
/// \file \brief A reference to `ErrorHandlers<...>` of any types, so that the code that calls them is compiled once.
#ifndef ELASTICJOB_EXECUTION_ERROR_HANDLERS_REF_HPP
#define ELASTICJOB_EXECUTION_ERROR_HANDLERS_REF_HPP

#include <elasticjob/execution/error_handlers.hpp>

namespace elasticjob::detail {

/// An object pointer and a function pointer. The handlers must outlive this object. Threads: those of the handlers.
class error_handlers_ref {
public:
    template <error_handler... Hs>
    explicit error_handlers_ref(ErrorHandlers<Hs...>& h) noexcept
        : handlers_{&h},
          call_{[](void* self, failed_run const& run) { return (*static_cast<ErrorHandlers<Hs...>*>(self))(run); }},
          are_there_{ErrorHandlers<Hs...>::are_there} {}

    bool are_there() const noexcept { return are_there_; }

    /// See `ErrorHandlers`.
    handlers_answer operator()(failed_run const& run) const { return call_(handlers_, run); }

private:
    void* handlers_;
    handlers_answer (*call_)(void* self, failed_run const& run);
    bool are_there_;
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_EXECUTION_ERROR_HANDLERS_REF_HPP
