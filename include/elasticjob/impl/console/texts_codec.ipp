// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_TEXTS_CODEC_IPP
#define ELASTICJOB_IMPL_CONSOLE_TEXTS_CODEC_IPP

#include <elasticjob/console/flat_object_codec.hpp>
#include <elasticjob/console/texts_codec.hpp>

namespace elasticjob::detail {

/// A zero byte would end the text in functions of the system.
inline bool is_short_text(flat_member const& m) {
    return m.is == flat_member::kind::text && !m.texts.front().empty() && m.texts.front().size() <= 1'024 &&
           m.texts.front().find('\0') == std::string::npos;
}

ELASTICJOB_DECL result<std::vector<std::string>> read_texts(std::string_view body,
                                                            std::vector<std::string_view> const& names) {
    auto const object = read_flat_object(body, 8'192);
    std::vector<std::string> texts;
    for (auto const& name : names) {
        if (!object) break;
        auto const there = object->members.find(name);
        if (there != object->members.end() && is_short_text(there->second)) texts.push_back(there->second.texts.front());
    }
    if (object && texts.size() == names.size() && object->members.size() == names.size()) return texts;
    std::string wanted;
    for (auto const& name : names) wanted += (wanted.empty() ? "" : " and ") + std::string{name};
    return error{errc::malformed_data, "must be an object with " + wanted + " as texts", "body"};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_TEXTS_CODEC_IPP
