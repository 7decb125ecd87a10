# SPDX-License-Identifier: Apache-2.0
# RapidJSON's own package gives variables (1.1.0 and Debian), the target RapidJSON (later, and vcpkg) or rapidjson
# (ConanCenter), and some packagers install none. This gives one imported target: RapidJSON::RapidJSON.
#
# The package comes first, because the user's package manager has chosen it; the headers that CMake finds by itself may
# be different ones.

if(NOT TARGET RapidJSON::RapidJSON)
    set(rapidjson_target)
    set(rapidjson_directories ${RapidJSON_INCLUDE_DIR})
    if(NOT rapidjson_directories)
        find_package(RapidJSON CONFIG QUIET)
        foreach(target IN ITEMS RapidJSON rapidjson)
            if(TARGET ${target})
                set(rapidjson_target ${target})
                break()
            endif()
        endforeach()
        set(rapidjson_directories ${RapidJSON_INCLUDE_DIRS} ${RAPIDJSON_INCLUDE_DIRS})
        list(REMOVE_DUPLICATES rapidjson_directories)
    endif()
    if(NOT TARGET RapidJSON::RapidJSON AND NOT rapidjson_target AND NOT rapidjson_directories)
        find_path(RapidJSON_INCLUDE_DIR rapidjson/document.h)
        mark_as_advanced(RapidJSON_INCLUDE_DIR)
        if(RapidJSON_INCLUDE_DIR)
            set(rapidjson_directories ${RapidJSON_INCLUDE_DIR})
        endif()
    endif()

    if(NOT TARGET RapidJSON::RapidJSON AND (rapidjson_target OR rapidjson_directories))
        add_library(RapidJSON::RapidJSON INTERFACE IMPORTED)
        if(rapidjson_target)
            target_link_libraries(RapidJSON::RapidJSON INTERFACE ${rapidjson_target})
        else()
            target_include_directories(RapidJSON::RapidJSON INTERFACE ${rapidjson_directories})
        endif()
    endif()
    unset(rapidjson_target)
    unset(rapidjson_directories)
endif()

if(TARGET RapidJSON::RapidJSON)
    set(rapidjson_usable TRUE)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(RapidJSON
    REQUIRED_VARS rapidjson_usable
    REASON_FAILURE_MESSAGE "on Debian: apt-get install rapidjson-dev")
unset(rapidjson_usable)
