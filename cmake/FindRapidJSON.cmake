# SPDX-License-Identifier: Apache-2.0
# RapidJSON's own config files differ between releases and packagers (variables only, or a target of one of two names).
# Only its headers are needed, so this looks for them, and gives one imported target: RapidJSON::RapidJSON.

if(NOT TARGET RapidJSON::RapidJSON)
    find_path(RapidJSON_INCLUDE_DIR rapidjson/document.h)
    mark_as_advanced(RapidJSON_INCLUDE_DIR)
    if(RapidJSON_INCLUDE_DIR)
        add_library(RapidJSON::RapidJSON INTERFACE IMPORTED)
        target_include_directories(RapidJSON::RapidJSON INTERFACE ${RapidJSON_INCLUDE_DIR})
    else()
        find_package(RapidJSON CONFIG QUIET)
        foreach(target IN ITEMS rapidjson RapidJSON)
            if(TARGET ${target} AND NOT TARGET RapidJSON::RapidJSON)
                add_library(RapidJSON::RapidJSON INTERFACE IMPORTED)
                target_link_libraries(RapidJSON::RapidJSON INTERFACE ${target})
            endif()
        endforeach()
    endif()
endif()

if(TARGET RapidJSON::RapidJSON)
    set(rapidjson_usable TRUE)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(RapidJSON
    REQUIRED_VARS rapidjson_usable
    REASON_FAILURE_MESSAGE "on Debian: apt-get install rapidjson-dev")
unset(rapidjson_usable)
