// SPDX-License-Identifier: Apache-2.0
/// \file \brief A file with a secret.
#ifndef ELASTICJOB_TEST_SUPPORT_PRIVATE_FILE_HPP
#define ELASTICJOB_TEST_SUPPORT_PRIVATE_FILE_HPP

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace elasticjob::test {

/// A file that only its owner may read. It is removed with this object.
class private_file {
public:
    explicit private_file(std::string const& text = {}) { write(text); }
    private_file(private_file const&) = delete;
    private_file& operator=(private_file const&) = delete;
    ~private_file() { std::filesystem::remove(path); }

    /// Replaces the file by another one.
    void write(std::string const& text) const {
        auto const fresh = path + ".new";
        std::ofstream{fresh} << text;
        permit(std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, fresh);
        std::filesystem::rename(fresh, path);
    }
    void permit(std::filesystem::perms p) const { permit(p, path); }

    std::string const path = new_path();

private:
    static void permit(std::filesystem::perms p, std::string const& file) { std::filesystem::permissions(file, p); }
    static std::string new_path() {
        static std::atomic<int> count{0};
        auto const name = "elasticjob-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
        return (std::filesystem::temp_directory_path() / name).string();
    }
};

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_SUPPORT_PRIVATE_FILE_HPP
