# SPDX-License-Identifier: Apache-2.0
# Stands for a test whose tool or library is missing. ctest prints `Skipped`; cmake and `ctest -V` print the reason.
function(add_skipped_test name reason) # LABEL...
    message(STATUS "elasticjob: the test ${name} is skipped: ${reason}")
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: ${reason}")
    set_tests_properties(${name} PROPERTIES LABELS "${ARGN}" SKIP_REGULAR_EXPRESSION "SKIPPED: ")
endfunction()
