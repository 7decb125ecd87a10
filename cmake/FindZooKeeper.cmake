# SPDX-License-Identifier: Apache-2.0
# ZooKeeper's C client has a different name in each package. This gives one imported target,
# ZooKeeper::zookeeper_mt, from vcpkg (unofficial-zookeeper), Conan (zookeeper-client-c), or a plain header and library
# as Debian has them. registry/zk/c_api.hpp includes the header with or without its folder.

if(NOT TARGET ZooKeeper::zookeeper_mt)
    set(ZooKeeper_TARGET)
    foreach(package IN ITEMS unofficial-zookeeper zookeeper-client-c)
        if(NOT ZooKeeper_TARGET)
            find_package(${package} CONFIG QUIET)
            foreach(target IN ITEMS unofficial::zookeeper::zookeeper zookeeper-client-c::zookeeper-client-c)
                if(TARGET ${target})
                    set(ZooKeeper_TARGET ${target})
                endif()
            endforeach()
        endif()
    endforeach()

    if(ZooKeeper_TARGET)
        add_library(ZooKeeper::zookeeper_mt INTERFACE IMPORTED)
        target_link_libraries(ZooKeeper::zookeeper_mt INTERFACE ${ZooKeeper_TARGET})
    else()
        find_path(ZooKeeper_INCLUDE_DIR NAMES zookeeper/zookeeper.h zookeeper.h)
        find_library(ZooKeeper_LIBRARY zookeeper_mt)
        mark_as_advanced(ZooKeeper_INCLUDE_DIR ZooKeeper_LIBRARY)
        if(ZooKeeper_INCLUDE_DIR AND ZooKeeper_LIBRARY)
            add_library(ZooKeeper::zookeeper_mt UNKNOWN IMPORTED)
            set_target_properties(ZooKeeper::zookeeper_mt PROPERTIES
                IMPORTED_LOCATION ${ZooKeeper_LIBRARY}
                INTERFACE_INCLUDE_DIRECTORIES ${ZooKeeper_INCLUDE_DIR})
        endif()
    endif()
    if(TARGET ZooKeeper::zookeeper_mt)
        # The header declares the threaded client's blocking calls only if this macro is defined.
        target_compile_definitions(ZooKeeper::zookeeper_mt INTERFACE THREADED)
    endif()
endif()

if(TARGET ZooKeeper::zookeeper_mt)
    set(zookeeper_usable TRUE)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ZooKeeper
    REQUIRED_VARS zookeeper_usable
    REASON_FAILURE_MESSAGE "on Debian: apt-get install libzookeeper-mt-dev")
unset(zookeeper_usable)
