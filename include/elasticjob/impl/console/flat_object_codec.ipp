// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_FLAT_OBJECT_CODEC_IPP
#define ELASTICJOB_IMPL_CONSOLE_FLAT_OBJECT_CODEC_IPP

#include <elasticjob/config/json_text.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/console/flat_object_codec.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL std::string flat_object::text(std::string_view name) const {
    auto const there = members.find(name);
    return there != members.end() && there->second.is == flat_member::kind::text ? there->second.texts.front()
                                                                                 : std::string{};
}

ELASTICJOB_DECL std::optional<std::int64_t> flat_object::seconds(std::string_view name) const {
    auto const there = members.find(name);
    if (there == members.end() || there->second.is != flat_member::kind::number) return std::nullopt;
    std::string_view const number = there->second.texts.front();
    auto const whole = number.substr(0, number.find('.'));
    std::int64_t seconds = 0;
    constexpr std::int64_t end_of_9999 = 253'402'300'800;
    if (!read_number(whole, seconds) || seconds < 0 || seconds >= end_of_9999) return std::nullopt;
    return number.find_first_of("eE") == number.npos ? std::optional{seconds} : std::nullopt;
}

ELASTICJOB_DECL bool flat_object::is_true(std::string_view name) const {
    using kind = flat_member::kind;
    auto const there = members.find(name);
    if (there == members.end()) return false;
    auto const& [is, texts] = there->second;
    return (is == kind::truth || is == kind::text) && texts.front() == "true";
}

ELASTICJOB_DECL std::vector<std::string> flat_object::texts(std::string_view name) const {
    using kind = flat_member::kind;
    auto const there = members.find(name);
    if (there == members.end()) return {};
    bool const has_texts = there->second.is == kind::text || there->second.is == kind::list;
    return has_texts ? there->second.texts : std::vector<std::string>{};
}

/// Keeps the members of the outermost object, and the texts in its lists.
class flat_listener : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, flat_listener> {
public:
    bool Default() { return false; } // numbers come to `RawNumber` instead
    bool Null() { return take(flat_member::kind::other, {}); }
    bool Bool(bool b) { return take(flat_member::kind::truth, b ? "true" : "false"); }
    bool RawNumber(char const* text, rapidjson::SizeType length, bool) {
        return take(flat_member::kind::number, {text, length});
    }
    bool String(char const* text, rapidjson::SizeType length, bool) {
        return take(flat_member::kind::text, {text, length});
    }
    bool StartObject() {
        if (depth_ == 1) into_->is = flat_member::kind::other;
        return ++depth_ <= depth_max;
    }
    bool EndObject(rapidjson::SizeType) { return --depth_, true; }
    bool StartArray() {
        if (depth_ == 0) return false;
        if (depth_ == 1) into_->is = flat_member::kind::list;
        return ++depth_ <= depth_max;
    }
    bool EndArray(rapidjson::SizeType) { return --depth_, true; }
    bool Key(char const* text, rapidjson::SizeType length, bool) {
        if (depth_ != 1) return true;
        auto const [there, is_new] = read.members.try_emplace(std::string{text, length});
        into_ = &there->second;
        return is_new;
    }

    flat_object read{};

private:
    static constexpr int depth_max = 16; // RapidJSON's reader calls itself once for each level

    bool take(flat_member::kind is, std::string_view text) {
        if (depth_ == 0) return false;
        if (depth_ == 1) {
            into_->is = is;
            into_->texts.assign(1, std::string{text});
        } else if (depth_ == 2 && into_->is == flat_member::kind::list && is == flat_member::kind::text) {
            into_->texts.emplace_back(text);
        }
        return true;
    }

    flat_member* into_ = nullptr;
    int depth_ = 0;
};

ELASTICJOB_DECL result<flat_object> read_flat_object(std::string_view json, std::size_t size_max) {
    json_text text{json};
    flat_listener listener;
    if (text.find_fault(size_max).why || !text.read(listener))
        return error{errc::malformed_data,
                     "is no JSON object, or one that is too large, too deep, or has a member twice"};
    return std::move(listener.read);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_FLAT_OBJECT_CODEC_IPP
