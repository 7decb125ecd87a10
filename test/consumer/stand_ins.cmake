# SPDX-License-Identifier: Apache-2.0
# cmake -DDIRECTORY= -DCOMPILER= -DRAPIDJSON= [-DZOOKEEPER= -DLIBRARY=] -P stand_ins.cmake: makes packages of RapidJSON and
# of ZooKeeper's client below DIRECTORY, under every name that packagers give them, from the headers below RAPIDJSON and
# ZOOKEEPER. DIRECTORY/hidden.cmake hides the original headers from the compiler and from CMake, so that a program finds
# them only through its package: a project takes it as CMAKE_PROJECT_INCLUDE, a compiler @DIRECTORY/hidden.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${DIRECTORY})
if(NOT EXISTS ${RAPIDJSON}/rapidjson/document.h)
    message(FATAL_ERROR "there is no rapidjson/document.h below '${RAPIDJSON}' (on Debian: apt-get install rapidjson-dev)")
endif()
set(hidden rapidjson zookeeper zookeeper.h range) # range-v3 is optional: no program here needs it

function(write_package name headers file text)
    cmake_path(GET headers FILENAME folder)
    file(MAKE_DIRECTORY ${DIRECTORY}/${name}/headers) # not include/, where CMake would find them without the package
    file(CREATE_LINK ${headers} ${DIRECTORY}/${name}/headers/${folder} SYMBOLIC)
    file(WRITE ${DIRECTORY}/${name}/${file} "${text}")
endfunction()

# RapidJSON. Release 1.1.0, which Debian has, sets variables. ConanCenter has the target rapidjson. Later releases and
# vcpkg have RapidJSON, with the other name as an alias. Last, the name that CMake would give it.
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

# ZooKeeper's client. A macro marks each header as the package's.
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

# The compiler's search folders, in its order. A folder with links to everything else replaces each folder that has a
# header to hide.
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
