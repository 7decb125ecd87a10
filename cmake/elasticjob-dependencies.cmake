# SPDX-License-Identifier: Apache-2.0
# What elasticjob::core needs, found the same way by our own build and by the installed package.
include_guard(GLOBAL)

macro(elasticjob_find_core_dependencies)
    if(POLICY CMP0167)
        cmake_policy(SET CMP0167 NEW) # Boost brings its own config file; CMake's module for it is gone.
    endif()
    find_package(Boost 1.74 ${ARGN}) # Hana, Outcome
    # Our own module, also where the project has CMake prefer packages (as Conan does): theirs have many names.
    find_package(RapidJSON MODULE ${ARGN})
    set(THREADS_PREFER_PTHREAD_FLAG ON)
    find_package(Threads ${ARGN})
endmacro()
