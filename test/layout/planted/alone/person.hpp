// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

struct person {
    std::string name;
};
