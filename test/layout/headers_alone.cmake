# SPDX-License-Identifier: Apache-2.0
# Each header compiles on its own, and its definitions with nothing but the header before them. This is the compiled
# form, which takes less time. In the header-only form a header and its definitions see at least as much, because
# layout.layers lets no circle pass through definitions.

# Most headers include one of these, which are compiled in advance; that saves a third of the time. A header is compiled
# after the first one that it includes, itself or through others. So it sees nothing more than without that, only in
# another order. Each comes before those that it includes. CMake chooses when it configures.
set(shared_headers operations/job_overview execution/item_life config/validation registry/registry core/loop core/result)
list(TRANSFORM shared_headers REPLACE ".+" "elasticjob/\\0.hpp")
set(shared_by_min 12)      # otherwise it takes longer to compile in advance
set(CMAKE_PCH_PROLOGUE "") # otherwise they count as system headers, which never warn

# Sets two properties: shared_header_of_${path}, to one of them or to nothing, and includes_of_${path}, to those of our
# headers that it includes itself.
function(find_shared_header path)
    get_property(is_known GLOBAL PROPERTY shared_header_of_${path} SET)
    if(is_known)
        return()
    endif()
    set_property(GLOBAL PROPERTY shared_header_of_${path} "")
    file(READ ${include_dir}/${path} text)
    string(REGEX REPLACE "\nnamespace .*" "" text "${text}") # what follows is for the header-only form
    string(REGEX MATCHALL "#include <elasticjob/[^>]+\\.hpp>" includes "${text}")
    list(TRANSFORM includes REPLACE "#include <(.*)>" "\\1")
    set_property(GLOBAL PROPERTY includes_of_${path} ${includes})
    set(candidates ${includes})
    foreach(included IN LISTS includes)
        find_shared_header(${included})
        get_property(candidate GLOBAL PROPERTY shared_header_of_${included})
        list(APPEND candidates ${candidate})
    endforeach()
    foreach(shared IN LISTS shared_headers)
        if(shared IN_LIST candidates)
            set_property(GLOBAL PROPERTY shared_header_of_${path} ${shared})
            return()
        endif()
    endforeach()
endfunction()

add_custom_target(headers_alone)
function(compile_alone name library sources shared)
    list(LENGTH sources count)
    if(count EQUAL 0)
        return()
    endif()
    add_library(${name} OBJECT EXCLUDE_FROM_ALL ${sources})
    # A check needs no code; only the header that is compiled in advance is written to a file.
    set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS -fsyntax-only)
    set_target_properties(${name} PROPERTIES
        RULE_LAUNCH_COMPILE "sh ${CMAKE_CURRENT_SOURCE_DIR}/touch_object.sh <OBJECT>")
    target_link_libraries(${name} PRIVATE ${library})
    target_compile_definitions(${name} PRIVATE ELASTICJOB_COMPILED)
    if(shared AND NOT count LESS shared_by_min)
        target_precompile_headers(${name} PRIVATE <${shared}>)
    endif()
    add_dependencies(headers_alone ${name})
endfunction()

# A header without definitions needs no file of its own: it can be the first one in the file of a header that includes it
# and comes after the same shared header. There, too, it sees nothing but what it includes. Sets first_in_${path} for each
# of `paths` whose file is for another header as well, and checked_with_others to these other headers.
function(choose_first_headers)
    foreach(path IN LISTS paths)
        get_property(shared GLOBAL PROPERTY shared_header_of_${path})
        get_property(includes GLOBAL PROPERTY includes_of_${path})
        foreach(included IN LISTS includes)
            get_property(shared_by_included GLOBAL PROPERTY shared_header_of_${included})
            if(included IN_LIST paths AND NOT definitions_of_${included} AND NOT included IN_LIST checked_with_others
               AND shared_by_included STREQUAL shared)
                set(first_in_${path} ${included} PARENT_SCOPE)
                list(APPEND checked_with_others ${included})
                break()
            endif()
        endforeach()
    endforeach()
    set(checked_with_others ${checked_with_others} PARENT_SCOPE)
endfunction()

function(include_alone library header_set)
    get_target_property(headers ${library} HEADER_SET_${header_set})
    foreach(header IN LISTS headers)
        cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${include_dir} OUTPUT_VARIABLE path)
        list(APPEND paths ${path})
        find_shared_header(${path})
        string(REGEX REPLACE "^elasticjob/(.*)\\.hpp$" "elasticjob/impl/\\1.ipp" definitions ${path})
        if(EXISTS ${include_dir}/${definitions})
            set(definitions_of_${path} ${definitions})
        endif()
    endforeach()
    choose_first_headers()
    foreach(path IN LISTS paths)
        if(path IN_LIST checked_with_others)
            continue()
        endif()
        set(text "")
        if(definitions_of_${path})
            set(text "#include <${definitions_of_${path}}>\n")
        endif()
        set(included ${path})
        while(included)
            string(PREPEND text "#include <${included}>\n")
            set(included ${first_in_${included}})
        endwhile()
        set(source ${CMAKE_CURRENT_BINARY_DIR}/alone/${path}.cpp)
        file(CONFIGURE OUTPUT ${source} CONTENT "${text}" @ONLY)
        get_property(shared GLOBAL PROPERTY shared_header_of_${path})
        list(APPEND "after_${shared}" ${source})
    endforeach()
    string(TOLOWER ${library}_${header_set}_alone name)
    compile_alone(${name} ${library} "${after_}" "")
    foreach(shared IN LISTS shared_headers)
        cmake_path(GET shared STEM stem)
        compile_alone(${name}_after_${stem} ${library} "${after_${shared}}" ${shared})
    endforeach()
endfunction()

get_property(header_sets GLOBAL PROPERTY ELASTICJOB_USABLE_HEADER_SETS)
foreach(header_set IN LISTS header_sets)
    string(REPLACE ":" ";" header_set ${header_set})
    include_alone(${header_set})
endforeach()
