# SPDX-License-Identifier: Apache-2.0
# cmake -DDIRECTORY= -DCOMPILER= -DRAPIDJSON= [-DZOOKEEPER= -DLIBRARY=] -P stand_ins.cmake: makes packages of RapidJSON and
# of ZooKeeper's client below DIRECTORY, under every name that their packagers give them, of the headers below RAPIDJSON
# and ZOOKEEPER. DIRECTORY/hidden.cmake hides those headers from the compiler and from CMake where they are, so that a
# program finds them only through its package: a project takes it as CMAKE_PROJECT_INCLUDE, a compiler @DIRECTORY/hidden.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${DIRECTORY})
if(NOT EXISTS ${RAPIDJSON}/rapidjson/document.h)
    message(FATAL_ERROR "there is no rapidjson/document.h below '${RAPIDJSON}' (on Debian: apt-get install rapidjson-dev)")
endif()
set(hidden rapidjson zookeeper zookeeper.h range) # range-v3 is optional: no program here includes what needs it

function(write_package name headers file text)
    cmake_path(GET headers FILENAME folder)
    file(MAKE_DIRECTORY ${DIRECTORY}/${name}/headers) # not include/, where CMake would find them without the package
    file(CREATE_LINK ${headers} ${DIRECTORY}/${name}/headers/${folder} SYMBOLIC)
    file(WRITE ${DIRECTORY}/${name}/${file} "${text}")
endfunction()

# RapidJSON. The release 1.1.0, which Debian has: variables. ConanCenter: the target rapidjson. Upstream since, and vcpkg:
# RapidJSON, with the other name as an alias. And the name that CMake would give it.
set(here "\${CMAKE_CURRENT_LIST_DIR}/headers")
write_package(rapidjson_variables ${RAPIDJSON}/rapidjson RapidJSONConfig.cmake "set(RAPIDJSON_INCLUDE_DIRS ${here})\n")
foreach(spelling IN ITEMS lowercase upstream namespaced)
    set(target_lowercase rapidjson)
    set(target_upstream RapidJSON)
    set(target_namespaced RapidJSON::RapidJSON)
    set(target ${target_${spelling}})
    set(text "if(NOT TARGET ${target})
    add_library(${target} INTERFACE IMPORTED)
    target_include_directories(${target} INTERFACE ${here})
endif()\n")
    if(spelling STREQUAL upstream)
        string(APPEND text "if(NOT TARGET rapidjson)\n    add_library(rapidjson ALIAS RapidJSON)\nendif()\n")
    endif()
    write_package(rapidjson_${spelling} ${RAPIDJSON}/rapidjson RapidJSONConfig.cmake "${text}")
endforeach()

# ZooKeeper's client. Each header says that it is the package's.
function(write_zookeeper package file header target definitions)
    file(WRITE ${DIRECTORY}/${package}/headers/${header}
        "#define STAND_IN_ZOOKEEPER\n#include \"${ZOOKEEPER}/zookeeper/zookeeper.h\"\n")
    file(WRITE ${DIRECTORY}/${package}/${file} "if(NOT TARGET ${target})
    add_library(${target} INTERFACE IMPORTED)
    target_include_directories(${target} INTERFACE ${here})
    target_compile_definitions(${target} INTERFACE EXPECT_STAND_IN_ZOOKEEPER ${definitions})
    target_link_libraries(${target} INTERFACE ${LIBRARY})
endif()\n")
endfunction()
if(LIBRARY)
    write_zookeeper(zookeeper_conan zookeeper-client-c-config.cmake
        zookeeper.h zookeeper-client-c::zookeeper-client-c USE_STATIC_LIB)
    write_zookeeper(zookeeper_vcpkg unofficial-zookeeperConfig.cmake
        zookeeper/zookeeper.h unofficial::zookeeper::zookeeper "")
endif()

# The folders that the compiler looks through, in its order. In the place of one that has what is to be hidden there is a
# folder with links to all else.
execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C ${COMPILER} -E -v -x c++ /dev/null
    OUTPUT_QUIET ERROR_VARIABLE told COMMAND_ERROR_IS_FATAL ANY)
if(NOT told MATCHES "#include <[.]+> search starts here:\n([^#]*)End of search list")
    message(FATAL_ERROR "${COMPILER} does not tell where it looks for headers: ${told}")
endif()
string(REGEX MATCHALL "[^ \n][^\n]*" folders "${CMAKE_MATCH_1}")
set(options -nostdinc -nostdinc++)
set(response "-nostdinc\n-nostdinc++\n")
set(ignored)
foreach(folder IN LISTS folders)
    set(shown ${folder})
    foreach(name IN LISTS hidden)
        if(EXISTS ${folder}/${name} AND shown STREQUAL folder)
            string(MAKE_C_IDENTIFIER ${folder} shown)
            set(shown ${DIRECTORY}/shown/${shown})
            file(MAKE_DIRECTORY ${shown})
            file(GLOB entries RELATIVE ${folder} ${folder}/*)
            list(REMOVE_ITEM entries ${hidden})
            foreach(entry IN LISTS entries)
                file(CREATE_LINK ${folder}/${entry} ${shown}/${entry} SYMBOLIC)
            endforeach()
            list(APPEND ignored ${folder})
        endif()
    endforeach()
    list(APPEND options "SHELL:-isystem ${shown}")
    string(APPEND response "-isystem\n${shown}\n")
endforeach()
file(WRITE ${DIRECTORY}/hidden.cmake "include_guard(GLOBAL)
add_compile_options(\"${options}\")
set(CMAKE_IGNORE_PATH \"${ignored}\")
set(CMAKE_SYSTEM_IGNORE_PATH \"${ignored}\")
")
file(WRITE ${DIRECTORY}/hidden "${response}")
