# SPDX-License-Identifier: Apache-2.0
# Headers, CMake package and pkg-config files; the compiled libraries, if ELASTICJOB_BUILD_COMPILED is on; and the program,
# with its manual page and completion scripts, if ELASTICJOB_BUILD_PROGRAM is.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# A package of headers alone is the same on every architecture. One with libraries is not, so it goes below lib/. CMake
# searches lib/ before share/, so an older package of headers alone does not hide this one.
set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/elasticjob)
set(arch_independent ARCH_INDEPENDENT)
if(ELASTICJOB_BUILD_COMPILED)
    set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/elasticjob)
    set(arch_independent)
endif()

# One export for each target that the installed package may omit.
install(TARGETS elasticjob_core EXPORT elasticjob-core-targets
    FILE_SET HEADERS FILE_SET definitions FILE_SET range_v3 FILE_SET date_zone FILE_SET std_zone)
install(TARGETS elasticjob EXPORT elasticjob-zookeeper-targets FILE_SET HEADERS)
install(TARGETS elasticjob_with_sqlite elasticjob_with_postgres elasticjob_with_http elasticjob_with_console elasticjob_with_cli11
    FILE_SET HEADERS)
if(ELASTICJOB_BUILD_PROGRAM)
    install(TARGETS elasticjob_program RUNTIME)
    get_target_property(documents elasticjob_program ELASTICJOB_DOCUMENTS)
    if(documents)
        install(FILES ${documents}/elasticjob.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
        install(FILES ${documents}/elasticjob DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
        install(FILES ${documents}/_elasticjob DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
        install(FILES ${documents}/elasticjob.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
    endif()
endif()
set(exports core zookeeper)
if(ELASTICJOB_BUILD_COMPILED)
    foreach(name IN ITEMS compiled_core compiled)
        if(TARGET elasticjob_${name})
            install(TARGETS elasticjob_${name} EXPORT elasticjob-${name}-targets)
            list(APPEND exports ${name})
        endif()
    endforeach()
endif()
foreach(export IN LISTS exports)
    install(EXPORT elasticjob-${export}-targets NAMESPACE elasticjob:: DESTINATION ${package_dir})
endforeach()

configure_package_config_file(cmake/elasticjob-config.cmake.in elasticjob-config.cmake
    INSTALL_DESTINATION ${package_dir}
    NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor release may break its users.
write_basic_package_version_file(elasticjob-config-version.cmake COMPATIBILITY SameMinorVersion ${arch_independent})
install(FILES
    ${CMAKE_CURRENT_BINARY_DIR}/elasticjob-config.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/elasticjob-config-version.cmake
    cmake/elasticjob-dependencies.cmake
    cmake/FindZooKeeper.cmake
    cmake/FindRapidJSON.cmake
    DESTINATION ${package_dir})

# The .pc files locate headers and libraries relative to themselves, so the installed tree can be moved.
function(install_pc folder)
    foreach(place IN ITEMS INCLUDE LIB)
        string(TOLOWER prefix_to_${place} variable)
        cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_${place}DIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE ${variable})
    endforeach()
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE pkgconfig_to_prefix)
    cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${pkgconfig_to_prefix} OUTPUT_VARIABLE pkgconfig_to_prefix)
    foreach(name IN LISTS ARGN)
        configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
        install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${folder})
    endforeach()
endfunction()
install_pc(${CMAKE_INSTALL_DATADIR}/pkgconfig elasticjob-core elasticjob)
foreach(name IN ITEMS compiled_core compiled)
    if(name IN_LIST exports)
        string(REPLACE _ - name elasticjob-${name})
        install_pc(${CMAKE_INSTALL_LIBDIR}/pkgconfig ${name})
    endif()
endforeach()

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/elasticjob)
