# SPDX-License-Identifier: Apache-2.0
# Some tests call the compiler themselves. The file ${compile_flags} gives them the flags of the other tests.
set(compile_flags ${CMAKE_CURRENT_BINARY_DIR}/compile_flags.rsp)

# An explicit /usr/include would change the compiler's search order.
set(includes "$<FILTER:$<REMOVE_DUPLICATES:$<TARGET_PROPERTY:elasticjob_test_main,INCLUDE_DIRECTORIES>>,EXCLUDE,^/usr/include$>")
# The header-only form: with the compiled one, the flags would have to name libraries too.
set(definitions "$<FILTER:$<TARGET_PROPERTY:elasticjob_test_main,COMPILE_DEFINITIONS>,EXCLUDE,^ELASTICJOB_COMPILED$>")
file(GENERATE OUTPUT ${compile_flags} CONTENT
"-std=c++20 -pthread ${CMAKE_CXX_FLAGS}
$<$<BOOL:${includes}>:-I\"$<JOIN:${includes},\"\n-I\">\">
$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},\n-D>>
")
