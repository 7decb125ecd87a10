# SPDX-License-Identifier: Apache-2.0
# The consumer, where the library's sources are part of its build.
foreach(part IN ITEMS BUILD_TESTS BUILD_EXAMPLES BUILD_BENCHMARKS INSTALL)
    if(ELASTICJOB_${part})
        message(FATAL_ERROR "elasticjob brings ELASTICJOB_${part} into a project that uses it")
    endif()
endforeach()

add_executable(consumer ${CMAKE_CURRENT_LIST_DIR}/${CONSUMER})
if(CONSUMER_USES_ZOOKEEPER)
    target_link_libraries(consumer PRIVATE elasticjob::elasticjob)
    target_compile_definitions(consumer PRIVATE CONSUMER_USES_ZOOKEEPER)
else()
    target_link_libraries(consumer PRIVATE elasticjob::core)
    if(CMAKE_DISABLE_FIND_PACKAGE_ZooKeeper AND TARGET elasticjob::elasticjob)
        message(FATAL_ERROR "there is elasticjob::elasticjob without ZooKeeper")
    endif()
endif()
