# SPDX-License-Identifier: Apache-2.0
# Headers, CMake package and pkg-config files. Nothing here depends on the architecture.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/elasticjob)

# Two exports: the installed package loads the second one only where it finds ZooKeeper.
install(TARGETS elasticjob_core EXPORT elasticjob-core-targets
    FILE_SET HEADERS FILE_SET definitions FILE_SET date_zone FILE_SET std_zone)
install(TARGETS elasticjob EXPORT elasticjob-zookeeper-targets FILE_SET HEADERS)
install(TARGETS elasticjob_with_sqlite elasticjob_with_postgres elasticjob_with_httplib FILE_SET HEADERS)
foreach(export IN ITEMS elasticjob-core-targets elasticjob-zookeeper-targets)
    install(EXPORT ${export} NAMESPACE elasticjob:: DESTINATION ${package_dir})
endforeach()

configure_package_config_file(cmake/elasticjob-config.cmake.in elasticjob-config.cmake
    INSTALL_DESTINATION ${package_dir}
    NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor release may break its users.
write_basic_package_version_file(elasticjob-config-version.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES
    ${CMAKE_CURRENT_BINARY_DIR}/elasticjob-config.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/elasticjob-config-version.cmake
    cmake/elasticjob-dependencies.cmake
    cmake/FindZooKeeper.cmake
    cmake/FindRapidJSON.cmake
    DESTINATION ${package_dir})

# The .pc files find the headers relative to themselves, so the installed tree can be moved.
set(pkgconfig_dir ${CMAKE_INSTALL_DATADIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR
    BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${pkgconfig_dir}
    OUTPUT_VARIABLE pkgconfig_to_include)
foreach(name IN ITEMS elasticjob-core elasticjob)
    configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${pkgconfig_dir})
endforeach()

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/elasticjob)
