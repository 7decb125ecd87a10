// SPDX-License-Identifier: Apache-2.0
// EL-1 is defined. Others are not, and test/layout checks that this is noticed:
int second = 2; // EL-2
int family = 3; // EL
TEST_CASE("a defect that nobody has described (D-9)"); // and a comment behind it
