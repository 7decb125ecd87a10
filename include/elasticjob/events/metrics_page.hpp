// SPDX-License-Identifier: Apache-2.0
/// \file \brief The page of `/metrics`, without the type of the source of its metrics.
#ifndef ELASTICJOB_EVENTS_METRICS_PAGE_HPP
#define ELASTICJOB_EVENTS_METRICS_PAGE_HPP

#include <elasticjob/core/memory.hpp>
#include <elasticjob/events/metrics_source.hpp>

#include <string>
#include <utility>

namespace elasticjob::detail {

/// One function pointer; the derived class keeps the source. Threads: any.
class metrics_page {
public:
    /// All current numbers: see `expose`.
    std::string text() const { return make_(*this); }

protected:
    using maker = std::string (*)(metrics_page const&);
    explicit metrics_page(maker make) noexcept : make_{make} {}
    ~metrics_page() = default;

private:
    maker make_;
};

template <metrics_source Metrics>
class metrics_page_of final : public metrics_page {
public:
    explicit metrics_page_of(Metrics metrics) : metrics_page{&text_of}, metrics_{std::move(metrics)} {}

private:
    static std::string text_of(metrics_page const& page) {
        return expose(static_cast<metrics_page_of const&>(page).metrics_);
    }

    Metrics metrics_;
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_EVENTS_METRICS_PAGE_HPP
