// SPDX-License-Identifier: Apache-2.0
/// \file \brief One handle of libzookeeper: one session, from its opening to its closing.
#ifndef ELASTICJOB_REGISTRY_ZK_HANDLE_HPP
#define ELASTICJOB_REGISTRY_ZK_HANDLE_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/standard_streams.hpp>
#include <elasticjob/registry/watch.hpp>
#include <elasticjob/registry/zk/c_api.hpp>
#include <elasticjob/registry/zk/options.hpp>
#include <elasticjob/registry/zk/reconnect_gate.hpp>
#include <elasticjob/registry/zk/server_order.hpp>
#include <elasticjob/registry/zk/watch_table.hpp>

#include <array>
#include <cstdint>
#include <cstring> // memcpy
#include <mutex>
#include <string>
#include <utility>

namespace elasticjob::zk {

/// A notification of libzookeeper about its connection.
struct link_news {
    enum class kind : std::uint8_t { up, down, expired, refused };
    kind what;
    std::int64_t session = 0;            ///< when up
    std::chrono::milliseconds timeout{}; ///< when up, as negotiated
    std::array<char, 16> password{};     ///< when up: needed to take over the session
};

/// A `Sink` is notified of the connection and of watches, on libzookeeper's completion thread, from `open` until
/// `close` has returned: `sink.hear(link_news)` and `sink.hear(watch_target)`. It only stores the notification and
/// returns.
/// Threads: `open` and `close` may block, each on any one thread; the rest on the loop, between the two.
class handle {
public:
    explicit handle(settings const& s) noexcept : settings_{s} {}
    handle(handle const&) = delete;
    handle& operator=(handle const&) = delete;
    ~handle() { close(); }

    /// Starts to connect to the servers in this order. Errors: unreachable if no server's name can be resolved;
    /// overloaded if no thread can be started.
    template <class Sink>
    result<void> open(Sink& sink, server_order const& servers) {
        ELASTICJOB_CHECK(check_threads());
        detail::occupy_standard_streams();
        zoo_set_debug_level(ZOO_LOG_LEVEL_INFO); // the gate needs these lines; one level more triggers a use after free
        kept_order const in_order{servers.has_choice()};
        raw_ = zookeeper_init2(servers.text().c_str(), &on_session<Sink>,
                               static_cast<int>(settings_.options.session_timeout.count()), nullptr, &sink,
                               ZOO_NO_LOG_CLIENTENV, &on_log);
        if (!raw_) return error{errc::unreachable, "no server's name can be resolved", settings_.options.servers};
        zoo_set_servers_resolution_delay(raw_, resolution_delay_ms);
        sink_ = &sink;
        watchers_[0] = &on_watch<Sink, watch_kind::data>;
        watchers_[1] = &on_watch<Sink, watch_kind::children>;
        return success();
    }

    /// Closes the session on the server, if it is connected. Afterwards this handle makes no callbacks, and
    /// libzookeeper holds no memory of its calls. No effect if it is not open.
    void close();

    bool is_open() const noexcept { return raw_ != nullptr; }

    /// While the caller holds a `reconnect_gate::pass`, the result stays valid.
    bool is_connected() const { return zoo_state(raw_) == ZOO_CONNECTED_STATE; }

    /// Sends the digest before all later requests, in this connection and in all later ones.
    bool introduce();

    // For requests.

    zhandle_t* raw() const noexcept { return raw_; }
    std::string on_server(node_path const& path) const { return settings_.on_server(path); }
    ACL_vector const* access() const noexcept;
    watcher_fn watcher(watch_kind kind) const noexcept { return watchers_[kind == watch_kind::data ? 0 : 1]; }
    void* sink() const noexcept { return sink_; }

private:
    /// Checks that libzookeeper can start its two threads; if it cannot, it ends the process by an assertion. This
    /// starts two threads and waits for their end, so another part of the process may still take their place. Errors:
    /// overloaded.
    static result<void> check_threads();

    /// While one of these lives, libzookeeper does not shuffle the servers of the handles that are opened. Its setting
    /// is the process's, so it is put back for handles that are not ours. Threads: any.
    class kept_order {
    public:
        explicit kept_order(bool is_wanted);
        kept_order(kept_order const&) = delete;
        kept_order& operator=(kept_order const&) = delete;
        ~kept_order();

    private:
        static void change(int number);

        static inline std::mutex mutex_;
        static inline int number_ = 0; ///< of these objects; guarded by the mutex
        bool const is_wanted_;
    };

    template <class Sink>
    static void on_session(zhandle_t* raw, int type, int state, char const*, void* sink) noexcept {
        if (type != ZOO_SESSION_EVENT) return;
        link_news news{link_news::kind::down};
        if (state == ZOO_CONNECTED_STATE) {
            auto const& its = *zoo_client_id(raw);
            news = {link_news::kind::up, its.client_id, std::chrono::milliseconds{zoo_recv_timeout(raw)}};
            static_assert(sizeof its.passwd == sizeof news.password);
            std::memcpy(news.password.data(), its.passwd, sizeof its.passwd);
        } else if (state == ZOO_EXPIRED_SESSION_STATE) {
            news.what = link_news::kind::expired;
        } else if (state == ZOO_AUTH_FAILED_STATE) {
            news.what = link_news::kind::refused;
        }
        static_cast<Sink*>(sink)->hear(news);
    }

    /// Every watch callback also receives session events, which another callback handles.
    template <class Sink, watch_kind Kind>
    static void on_watch(zhandle_t*, int type, int, char const* path, void* sink) noexcept {
        if (type != ZOO_SESSION_EVENT) static_cast<Sink*>(sink)->hear(watch_target{path, Kind});
    }

    static void on_log(char const* line) noexcept { reconnect_gate::hear(line); }

    /// Without this, libzookeeper resolves all names in every turn of its thread.
    static constexpr int resolution_delay_ms = 10'000;

    settings const& settings_;
    zhandle_t* raw_ = nullptr;
    void* sink_ = nullptr;
    watcher_fn watchers_[2]{};
};

} // namespace elasticjob::zk

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/zk/handle.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_ZK_HANDLE_HPP
