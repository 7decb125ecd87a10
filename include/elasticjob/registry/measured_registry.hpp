// SPDX-License-Identifier: Apache-2.0
/// \file \brief A registry that reports each request to a meter: its operation, its outcome, and its duration.
#ifndef ELASTICJOB_REGISTRY_MEASURED_REGISTRY_HPP
#define ELASTICJOB_REGISTRY_MEASURED_REGISTRY_HPP

#include <elasticjob/registry/registry.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

enum class registry_operation : std::uint8_t { get, exists, children, create, set, remove, commit };

constexpr std::string_view name_of(registry_operation o) noexcept {
    switch (o) {
    case registry_operation::get:
        return "get";
    case registry_operation::exists:
        return "exists";
    case registry_operation::children:
        return "children";
    case registry_operation::create:
        return "create";
    case registry_operation::set:
        return "set";
    case registry_operation::remove:
        return "remove";
    case registry_operation::commit:
        return "commit";
    }
    return "unknown";
}

/// One request that has ended.
struct registry_request {
    registry_operation what;

    /// `success`; the name of an error's code; `refused`: the registry decided against a transaction; `abandoned`: the
    /// caller did not wait for the end. In static storage.
    std::string_view outcome;

    std::chrono::nanoseconds took; ///< by the loop's clock
};

/// | expression | must hold                                                          |
/// |------------|--------------------------------------------------------------------|
/// | `m(r)`     | takes a `registry_request`; returns soon, throws nothing           |
/// Models: RegistryMetrics (events/registry_metrics.hpp), or a lambda. Threads: called on the loop.
template <class M>
concept registry_meter = std::move_constructible<M> && std::invocable<M&, registry_request const&>;

/// Passes everything on to `inner`, which must outlive it, and reports each request to the meter when it has ended.
/// Direct requests to `inner` and the removal of abandoned nodes are not measured. Give this object to the scheduler:
/// `MeasuredRegistry measured{registry, numbers};`. Threads: as for `inner`.
template <registry Inner, registry_meter Meter>
class MeasuredRegistry {
public:
    using loop_type = typename Inner::loop_type;

    MeasuredRegistry(Inner& inner, Meter meter) : inner_{inner}, meter_{std::move(meter)} {}
    MeasuredRegistry(MeasuredRegistry const&) = delete;
    MeasuredRegistry& operator=(MeasuredRegistry const&) = delete;

    Inner& inner() noexcept { return inner_; }

    loop_type& loop() noexcept { return inner_.loop(); }
    session_view session() const noexcept { return inner_.session(); }
    event_count<loop_type>& session_changed() noexcept { return inner_.session_changed(); }
    registry_limits limits() const noexcept { return inner_.limits(); }
    void abandon(abandoned_nodes what) { inner_.abandon(std::move(what)); }
    bool keep_room(node_path const& path) requires requires(Inner& r) { r.keep_room(path); }
    { return inner_.keep_room(path); }
    void release_room(node_path const& path) requires requires(Inner& r) { r.release_room(path); }
    { inner_.release_room(path); }

    task<result<node>> get(node_path path, node_watch<loop_type>* w = nullptr);
    task<result<std::optional<node_stat>>> exists(node_path path, node_watch<loop_type>* w = nullptr);
    task<result<std::vector<std::string>>> children(node_path path, node_watch<loop_type>* w = nullptr);

    task<result<node_path>> create(node_path path, std::string data, create_mode mode,
                                   session_generation g = session_generation::current());
    task<result<node_stat>> set(node_path path, std::string data, node_version version = any_version,
                                session_generation g = session_generation::current());
    task<result<void>> remove(node_path path, node_version version = any_version,
                              session_generation g = session_generation::current());
    task<result<commit_reply>> commit(transaction t);

private:
    /// Lies in the frame of its request, and is destroyed with that frame if the caller stops waiting.
    class measurement {
    public:
        measurement(MeasuredRegistry& r, registry_operation what) : self_{r}, what_{what}, begun_{r.loop().now()} {}
        measurement(measurement const&) = delete;
        measurement& operator=(measurement const&) = delete;
        ~measurement() { self_.meter_(registry_request{what_, outcome_, self_.loop().now() - begun_}); }

        template <class T>
        void end(result<T> const& answer) noexcept {
            outcome_ = answer ? "success" : name_of(answer.error().code);
            if constexpr (std::same_as<T, commit_reply>) {
                if (answer && answer->refused) outcome_ = "refused";
            }
        }

    private:
        MeasuredRegistry& self_;
        registry_operation what_;
        std::string_view outcome_ = "abandoned";
        mono_time begun_;
    };

    Inner& inner_;
    Meter meter_;
};

template <registry Inner, registry_meter Meter>
task<result<node>> MeasuredRegistry<Inner, Meter>::get(node_path path, node_watch<loop_type>* w) {
    measurement m{*this, registry_operation::get};
    auto answer = co_await inner_.get(std::move(path), w);
    m.end(answer);
    co_return answer;
}

template <registry Inner, registry_meter Meter>
task<result<std::optional<node_stat>>> MeasuredRegistry<Inner, Meter>::exists(node_path path,
                                                                              node_watch<loop_type>* w) {
    measurement m{*this, registry_operation::exists};
    auto answer = co_await inner_.exists(std::move(path), w);
    m.end(answer);
    co_return answer;
}

template <registry Inner, registry_meter Meter>
task<result<std::vector<std::string>>> MeasuredRegistry<Inner, Meter>::children(node_path path,
                                                                                node_watch<loop_type>* w) {
    measurement m{*this, registry_operation::children};
    auto answer = co_await inner_.children(std::move(path), w);
    m.end(answer);
    co_return answer;
}

template <registry Inner, registry_meter Meter>
task<result<node_path>> MeasuredRegistry<Inner, Meter>::create(node_path path, std::string data, create_mode mode,
                                                               session_generation g) {
    measurement m{*this, registry_operation::create};
    auto answer = co_await inner_.create(std::move(path), std::move(data), mode, g);
    m.end(answer);
    co_return answer;
}

template <registry Inner, registry_meter Meter>
task<result<node_stat>> MeasuredRegistry<Inner, Meter>::set(node_path path, std::string data, node_version version,
                                                            session_generation g) {
    measurement m{*this, registry_operation::set};
    auto answer = co_await inner_.set(std::move(path), std::move(data), version, g);
    m.end(answer);
    co_return answer;
}

template <registry Inner, registry_meter Meter>
task<result<void>> MeasuredRegistry<Inner, Meter>::remove(node_path path, node_version version, session_generation g) {
    measurement m{*this, registry_operation::remove};
    auto answer = co_await inner_.remove(std::move(path), version, g);
    m.end(answer);
    co_return answer;
}

template <registry Inner, registry_meter Meter>
task<result<commit_reply>> MeasuredRegistry<Inner, Meter>::commit(transaction t) {
    measurement m{*this, registry_operation::commit};
    auto answer = co_await inner_.commit(std::move(t));
    m.end(answer);
    co_return answer;
}

} // namespace elasticjob
#endif // ELASTICJOB_REGISTRY_MEASURED_REGISTRY_HPP
