# SPDX-License-Identifier: Apache-2.0
# Each header compiles on its own, and so do its definitions. This is the compiled form, which takes less time. In the
# header-only form a header and its definitions see at least as much, because layout.layers lets no circle pass through
# definitions.

# Clang compiles all of them at once, as submodules of one module. There, too, a file sees nothing but what it includes,
# itself or through others: clang parses the file that a submodule includes anew, or makes the names of its submodule
# visible. This takes a fifth of the time that a file for each header takes.
# https://clang.llvm.org/docs/Modules.html
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    message(STATUS "elasticjob: the test layout.headers_alone is left out, because it needs clang++")
    return()
endif()

set(as_module -fmodules -fno-implicit-module-maps -fmodule-name=elasticjob
    "SHELL:-Xclang -fmodules-local-submodule-visibility" "SHELL:-Xclang -emit-module")

# These headers define objects in unnamed namespaces, which clang 16 does not find when it parses such a header anew.
file(GLOB customization_points RELATIVE ${Boost_INCLUDE_DIRS}
    ${Boost_INCLUDE_DIRS}/boost/asio/execution.hpp ${Boost_INCLUDE_DIRS}/boost/asio/execution/*.hpp
    ${Boost_INCLUDE_DIRS}/boost/asio/prefer.hpp ${Boost_INCLUDE_DIRS}/boost/asio/query.hpp
    ${Boost_INCLUDE_DIRS}/boost/asio/require.hpp ${Boost_INCLUDE_DIRS}/boost/asio/require_concept.hpp
    ${Boost_INCLUDE_DIRS}/boost/beast/core/buffer_traits.hpp)

function(append_submodule base_dir) # HEADER...: one submodule
    string(MAKE_C_IDENTIFIER "${ARGV1}" name)
    list(TRANSFORM ARGN REPLACE ".+" "        header \"${base_dir}/\\0\"\n")
    list(JOIN ARGN "" headers)
    string(APPEND map "    module ${name} {\n${headers}        export *\n    }\n")
    set(map "${map}" PARENT_SCOPE)
endfunction()

set(map "")
if(customization_points)
    append_submodule(${Boost_INCLUDE_DIRS} ${customization_points})
endif()
set(libraries "")
get_property(header_sets GLOBAL PROPERTY ELASTICJOB_USABLE_HEADER_SETS)
foreach(library_and_set IN LISTS header_sets)
    string(REPLACE ":" ";" library_and_set ${library_and_set})
    list(GET library_and_set 0 library)
    list(GET library_and_set 1 header_set)
    list(APPEND libraries ${library})
    get_target_property(headers ${library} HEADER_SET_${header_set})
    foreach(header IN LISTS headers)
        cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${include_dir} OUTPUT_VARIABLE path)
        append_submodule(${include_dir} ${path})
        string(REGEX REPLACE "^elasticjob/(.*)\\.hpp$" "elasticjob/impl/\\1.ipp" definitions ${path})
        if(EXISTS ${include_dir}/${definitions})
            append_submodule(${include_dir} ${definitions})
        endif()
    endforeach()
endforeach()
set(module_map ${CMAKE_CURRENT_BINARY_DIR}/headers_alone.modulemap)
file(CONFIGURE OUTPUT ${module_map} CONTENT "module elasticjob {\n${map}}\n" @ONLY)
set_source_files_properties(${module_map} PROPERTIES LANGUAGE CXX)
add_library(headers_alone OBJECT EXCLUDE_FROM_ALL ${module_map})
target_link_libraries(headers_alone PRIVATE ${libraries})
target_compile_definitions(headers_alone PRIVATE ELASTICJOB_COMPILED)
target_compile_options(headers_alone PRIVATE ${as_module} -fmodule-map-file=${module_map})
set_target_properties(headers_alone PROPERTIES
    RULE_LAUNCH_COMPILE "sh ${CMAKE_CURRENT_SOURCE_DIR}/empty_object.sh <OBJECT>")
build_test(headers_alone)

list(TRANSFORM as_module REPLACE "SHELL:-Xclang " "-Xclang;")
set(planted ${CMAKE_CURRENT_SOURCE_DIR}/planted/alone/module.modulemap)
full_layout_test(headers_alone_planted ${compiler} ${as_module} -fmodule-map-file=${planted}
    -o ${CMAKE_CURRENT_BINARY_DIR}/planted.pcm -c -x c++ ${planted})
set_tests_properties(layout.headers_alone_planted PROPERTIES PASS_REGULAR_EXPRESSION
    "needs_person.hpp:4:[^\n]* unknown type name 'person'.*needs_string.hpp:4:[^\n]* missing '#include <string>'")
