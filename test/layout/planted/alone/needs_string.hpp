// SPDX-License-Identifier: Apache-2.0
#pragma once

inline bool is_name(std::string const& text) { return !text.empty(); }
