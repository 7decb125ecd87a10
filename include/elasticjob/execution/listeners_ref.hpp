// SPDX-License-Identifier: Apache-2.0
/// \file \brief A reference to `Listeners<...>` of any types, so that the code that calls them is compiled once.
#ifndef ELASTICJOB_EXECUTION_LISTENERS_REF_HPP
#define ELASTICJOB_EXECUTION_LISTENERS_REF_HPP

#include <elasticjob/core/result.hpp>
#include <elasticjob/execution/listeners.hpp>
#include <elasticjob/execution/sharding_context.hpp>

#include <cstdint>

namespace elasticjob::detail {

/// An object pointer, function pointers, and the hooks that there are. The listeners must outlive this object. Threads:
/// those of the listeners.
class listeners_ref {
public:
    template <job_listener... Ls>
    explicit listeners_ref(Listeners<Ls...>& l) noexcept
        : listeners_{&l},
          call_{&call<Listeners<Ls...>>},
          start_together_{
              [](void const* self) { return static_cast<Listeners<Ls...> const*>(self)->start_together(); }},
          hear_before_{Listeners<Ls...>::hear_before},
          hear_after_{Listeners<Ls...>::hear_after},
          hear_batches_{Listeners<Ls...>::hear_batches},
          hear_rounds_{Listeners<Ls...>::hear_rounds} {}

    bool hear_before() const noexcept { return hear_before_; }
    bool hear_after() const noexcept { return hear_after_; }
    bool hear_batches() const noexcept { return hear_batches_; }
    bool hear_rounds() const noexcept { return hear_rounds_; }

    // See `Listeners`.

    bool start_together() const { return start_together_(listeners_); }
    result<void> before(sharding_context const& c) const { return call_(listeners_, hook::before, &c, nullptr); }
    result<void> after(sharding_context const& c, result<void> const& outcome) const {
        return call_(listeners_, hook::after, &c, &outcome);
    }
    result<void> before_batch(run_batch const& b) const { return call_(listeners_, hook::before_batch, &b, nullptr); }
    result<void> after_batch(run_batch const& b) const { return call_(listeners_, hook::after_batch, &b, nullptr); }
    result<void> before_round(job_round const& r) const { return call_(listeners_, hook::before_round, &r, nullptr); }
    result<void> after_round(job_round const& r) const { return call_(listeners_, hook::after_round, &r, nullptr); }

private:
    enum class hook : std::uint8_t { before, after, before_batch, after_batch, before_round, after_round };

    template <class L>
    static result<void> call([[maybe_unused]] void* self, [[maybe_unused]] hook h, [[maybe_unused]] void const* about,
                             [[maybe_unused]] result<void> const* outcome) {
        if constexpr (L::hear_before)
            if (h == hook::before) return static_cast<L*>(self)->before(*static_cast<sharding_context const*>(about));
        if constexpr (L::hear_after)
            if (h == hook::after)
                return static_cast<L*>(self)->after(*static_cast<sharding_context const*>(about), *outcome);
        if constexpr (L::hear_batches) {
            auto const* const batch = static_cast<run_batch const*>(about);
            if (h == hook::before_batch) return static_cast<L*>(self)->before_batch(*batch);
            if (h == hook::after_batch) return static_cast<L*>(self)->after_batch(*batch);
        }
        if constexpr (L::hear_rounds) {
            auto const* const round = static_cast<job_round const*>(about);
            if (h == hook::before_round) return static_cast<L*>(self)->before_round(*round);
            if (h == hook::after_round) return static_cast<L*>(self)->after_round(*round);
        }
        return success(); // no listener has this hook
    }

    void* listeners_;
    result<void> (*call_)(void* self, hook h, void const* about, result<void> const* outcome);
    bool (*start_together_)(void const* self);
    bool hear_before_, hear_after_, hear_batches_, hear_rounds_;
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_EXECUTION_LISTENERS_REF_HPP
