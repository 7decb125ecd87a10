// SPDX-License-Identifier: Apache-2.0
#pragma once

inline bool is_named(person const& p) { return !p.name.empty(); }
