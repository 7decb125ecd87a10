// expect: required expression .*s\(request\).* is invalid|because .*s\(request\).* would be invalid
// SPDX-License-Identifier: Apache-2.0
// A class that calls itself a strategy but cannot be asked: the error names the missing call and its group.
#include <elasticjob/allocation/average.hpp>

namespace {

struct Lazy {
    static constexpr std::string_view name = "com.example.Lazy";
#ifndef BAD
    constexpr elasticjob::closed_form operator()(elasticjob::sharding_request const& request) const {
        return elasticjob::AverageAllocation{}(request);
    }
#endif
};

template <elasticjob::sharding_strategy Strategy>
constexpr elasticjob::closed_form plan(elasticjob::sharding_request const& request) {
    return Strategy{}(request);
}

} // namespace

int main() { return static_cast<int>(plan<Lazy>({}).items()); }
