// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_REGISTRY_ZK_SESSION_END_IPP
#define ELASTICJOB_IMPL_REGISTRY_ZK_SESSION_END_IPP

#include <elasticjob/registry/zk/session_end.hpp>

#include <concepts>

namespace elasticjob::zk {

/// Writes ZooKeeper's records: numbers in big endian order, texts after their length.
class wire_text {
public:
    wire_text& operator<<(std::integral auto number) {
        for (auto shift = 8 * sizeof number; shift > 0;)
            text_.push_back(static_cast<char>(static_cast<std::uint64_t>(number) >> (shift -= 8) & 0xff));
        return *this;
    }
    wire_text& operator<<(std::string_view text) {
        *this << static_cast<std::int32_t>(text.size());
        text_ += text;
        return *this;
    }
    std::string const& text() const noexcept { return text_; }

    template <std::integral Number>
    static Number read(std::string_view text, std::size_t at) noexcept {
        std::uint64_t number = 0;
        for (char const c : text.substr(at, sizeof(Number))) number = number << 8 | static_cast<unsigned char>(c);
        return static_cast<Number>(number);
    }

private:
    std::string text_;
};

ELASTICJOB_DECL std::string session_end::request(session_key const& key, std::string_view digest) {
    constexpr std::int32_t protocol = 0, authenticate = 100, close = -11, xid_authenticate = -4, xid_close = 1;
    constexpr std::int64_t seen = 0; // 0: no server is too far behind for us
    constexpr std::int8_t no = 0;    // a server that cannot write cannot close a session
    wire_text join, introduce, leave, all;
    join << protocol << seen << key.timeout_ms << key.id << std::string_view{key.password.data(), key.password.size()}
         << no;
    all << join.text();
    if (!digest.empty()) {
        introduce << xid_authenticate << authenticate << std::int32_t{0} << std::string_view{"digest"} << digest;
        all << introduce.text();
    }
    leave << xid_close << close;
    all << leave.text();
    return all.text();
}

ELASTICJOB_DECL auto session_end::receive(std::string_view bytes) -> outcome {
    rest_ += bytes;
    while (rest_.size() >= 4) {
        auto const size = wire_text::read<std::uint32_t>(rest_, 0);
        if (size > packet_bytes_max) return outcome::again; // so this is no ZooKeeper server
        if (rest_.size() < 4 + size) break;
        auto const so_far = take(std::string_view{rest_}.substr(4, size));
        if (so_far != outcome::pending) return so_far;
        rest_.erase(0, 4 + size);
    }
    return outcome::pending;
}

ELASTICJOB_DECL auto session_end::take(std::string_view packet) -> outcome {
    if (packet.size() < 16) return outcome::again;
    if (!is_joined_) { // protocol, time-out, session
        auto const timeout = wire_text::read<std::int32_t>(packet, 4);
        auto const id = wire_text::read<std::int64_t>(packet, 8);
        is_joined_ = timeout > 0 && id == id_;
        return is_joined_ ? outcome::pending : outcome::over;
    }
    // number of the request, revision, error
    constexpr std::int32_t xid_close = 1, expired = -112;
    auto const xid = wire_text::read<std::int32_t>(packet, 0);
    auto const failed = wire_text::read<std::int32_t>(packet, 12);
    if (xid != xid_close) return outcome::pending;
    return failed == 0 || failed == expired ? outcome::over : outcome::again;
}

} // namespace elasticjob::zk
#endif // ELASTICJOB_IMPL_REGISTRY_ZK_SESSION_END_IPP
