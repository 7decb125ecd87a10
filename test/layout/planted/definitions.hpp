// SPDX-License-Identifier: Apache-2.0
// What check_definitions.sh must find; the inline function it must not.
inline int allowed_function() { return 1; }
int planted_function() { return allowed_function(); }
int planted_variable = 1;
