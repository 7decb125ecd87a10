// SPDX-License-Identifier: Apache-2.0
/// \file \brief Masks the IPv4 addresses in texts.
#ifndef ELASTICJOB_OPERATIONS_ADDRESS_MASK_HPP
#define ELASTICJOB_OPERATIONS_ADDRESS_MASK_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/decl.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional> // less
#include <map>
#include <string>
#include <string_view>

namespace elasticjob {

enum class address_masking : std::uint8_t {
    whole,    ///< replaces the addresses by `ip1`, `ip2`, …, in the order in which they occur
    as_2_1_5, ///< byte for byte as 2.1.5, which recognizes only one digit of the last number: 10.0.0.17 becomes `ip17`
    none,     ///< keeps the addresses
};

namespace detail {

/// Whether the digits are a number from 0 to 255, without leading zeros.
constexpr bool is_octet(std::string_view digits) noexcept {
    if (digits.size() == 1) return true;
    if (digits.size() == 2) return digits[0] != '0';
    return digits[0] == '1' || (digits[0] == '2' && (digits[1] < '5' || (digits[1] == '5' && digits[2] < '6')));
}

/// The length of the address at the beginning of the text; 0 if there is none.
constexpr std::size_t address_length(std::string_view text, bool sees_one_digit) noexcept {
    std::size_t at = 0;
    for (int octet = 0;; ++octet) {
        std::size_t digits = 0;
        while (at + digits < text.size() && is_digit(text[at + digits])) ++digits;
        if (digits == 0) return 0;
        if (octet == 3) {
            auto longest = sees_one_digit ? std::size_t{1} : std::min(digits, std::size_t{3});
            while (!is_octet(text.substr(at, longest))) --longest;
            return at + longest;
        }
        auto const end = at + digits;
        if (digits > 3 || !is_octet(text.substr(at, digits)) || end == text.size() || text[end] != '.') return 0;
        at = end + 1;
    }
}
static_assert(address_length("10.0.0.17 ", false) == 9 && address_length("10.0.0.17 ", true) == 8);
static_assert(address_length("10.0.0.256", false) == 9 && address_length("256.0.0.1", false) == 0);
static_assert(address_length("10.0.0", false) == 0 && address_length("01.0.0.1", false) == 0);

} // namespace detail

/// Masks line after line. An address gets the same name in all lines. It may be part of another text, such as an
/// instance's id. Threads: one.
class address_mask {
public:
    explicit address_mask(address_masking how) noexcept : how_{how} {}

    std::string operator()(std::string line);

private:
    static std::size_t find_digit(std::string_view text, std::size_t from);
    std::string const& name_for(std::string_view address);
    static void replace_all(std::string& text, std::string_view what, std::string const& with);

    address_masking how_;
    std::map<std::string, std::string, std::less<>> names_;
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/address_mask.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_ADDRESS_MASK_HPP
