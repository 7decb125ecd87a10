// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_CREDENTIALS_CODEC_IPP
#define ELASTICJOB_IMPL_CONSOLE_CREDENTIALS_CODEC_IPP

#include <elasticjob/config/json_text.hpp>
#include <elasticjob/console/credentials_codec.hpp>

namespace elasticjob::detail {

/// Takes an object with these two texts; anything else is refused.
class credentials_listener : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, credentials_listener> {
public:
    bool Default() { return false; }
    bool StartObject() { return ++objects_ == 1; }
    bool EndObject(rapidjson::SizeType) { return true; }
    bool Key(char const* text, rapidjson::SizeType length, bool) {
        std::string_view const key{text, length};
        into_ = key == "operator" ? &read.operator_name : key == "password" ? &read.password : nullptr;
        return into_ != nullptr && into_->empty();
    }
    bool String(char const* text, rapidjson::SizeType length, bool) {
        if (!into_ || length > 1'024) return false;
        into_->assign(text, length);
        return true;
    }

    credentials read{};

private:
    std::string* into_ = nullptr;
    int objects_ = 0;
};

ELASTICJOB_DECL result<credentials> read_credentials(std::string_view json) {
    json_text text{json};
    credentials_listener listener;
    bool const is_read = !text.find_fault(8'192).why && text.read(listener);
    auto& read = listener.read;
    if (!is_read || read.operator_name.empty() || read.password.empty() || read.operator_name.size() > 100 ||
        read.password.find('\0') != std::string::npos)
        return error{errc::malformed_data, "must be an object with the texts operator and password", "session"};
    return std::move(read);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_CREDENTIALS_CODEC_IPP
