# SPDX-License-Identifier: Apache-2.0
# Finds the dependencies of elasticjob::core in the same way for our own build and for the installed package.
include_guard(GLOBAL)

macro(elasticjob_find_core_dependencies)
    if(POLICY CMP0167)
        cmake_policy(SET CMP0167 NEW) # Boost brings its own config file; CMake's module for it is gone.
    endif()
    find_package(Boost 1.74 ${ARGN}) # Hana, Outcome
    # Our own module, even if the project makes CMake prefer packages (as Conan does), because package names differ.
    find_package(RapidJSON MODULE ${ARGN})
    set(THREADS_PREFER_PTHREAD_FLAG ON)
    find_package(Threads ${ARGN})
endmacro()
