# SPDX-License-Identifier: Apache-2.0
# Some tests call the compiler themselves. They find the flags of the other tests in one file: ${compile_flags}.
set(compile_flags ${CMAKE_CURRENT_BINARY_DIR}/compile_flags.rsp)

# A compiler told to look in /usr/include explicitly would look there in another order.
set(includes "$<FILTER:$<REMOVE_DUPLICATES:$<TARGET_PROPERTY:elasticjob_test_main,INCLUDE_DIRECTORIES>>,EXCLUDE,^/usr/include$>")
# The header-only form: what is to be linked would have to be named, too.
set(definitions "$<FILTER:$<TARGET_PROPERTY:elasticjob_test_main,COMPILE_DEFINITIONS>,EXCLUDE,^ELASTICJOB_COMPILED$>")
file(GENERATE OUTPUT ${compile_flags} CONTENT
"-std=c++20 -pthread ${CMAKE_CXX_FLAGS}
$<$<BOOL:${includes}>:-I\"$<JOIN:${includes},\"\n-I\">\">
$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},\n-D>>
")
