# SPDX-License-Identifier: Apache-2.0
# An overlay port: it installs the source tree that contains it.
#   vcpkg install elasticjob --classic --overlay-ports=packaging/vcpkg/ports
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

if("compiled" IN_LIST FEATURES)
    vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
    set(package_files lib)
else()
    set(VCPKG_BUILD_TYPE release) # headers and the program
    set(package_files share)
endif()
# Without the feature, ignore a ZooKeeper that happens to be on the machine.
vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
    FEATURES compiled ELASTICJOB_BUILD_COMPILED program ELASTICJOB_BUILD_PROGRAM
    INVERTED_FEATURES zookeeper CMAKE_DISABLE_FIND_PACKAGE_ZooKeeper)
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        ${FEATURE_OPTIONS}
        -DELASTICJOB_PROGRAM_DATABASES=OFF # this port depends on neither
        -DELASTICJOB_BUILD_TESTS=OFF
        -DELASTICJOB_BUILD_EXAMPLES=OFF
        -DELASTICJOB_BUILD_BENCHMARKS=OFF
)
vcpkg_cmake_install()
if("program" IN_LIST FEATURES)
    vcpkg_copy_tools(TOOL_NAMES elasticjob AUTO_CLEAN)
endif()
vcpkg_cmake_config_fixup(CONFIG_PATH ${package_files}/cmake/elasticjob)
# vcpkg wants .pc files that link a library to be below lib/. The ones for ZooKeeper are useless here: they give its
# library Debian's name, and vcpkg uses another.
foreach(folder IN ITEMS "${CURRENT_PACKAGES_DIR}" "${CURRENT_PACKAGES_DIR}/debug")
    if(EXISTS "${folder}")
        file(MAKE_DIRECTORY "${folder}/lib/pkgconfig")
        file(RENAME "${folder}/share/pkgconfig/elasticjob-core.pc" "${folder}/lib/pkgconfig/elasticjob-core.pc")
        file(REMOVE_RECURSE
            "${folder}/lib/pkgconfig/elasticjob-compiled.pc"
            "${folder}/share/cmake"
            "${folder}/share/doc"
            "${folder}/share/pkgconfig")
    endif()
endforeach()
file(REMOVE_RECURSE
    "${CURRENT_PACKAGES_DIR}/debug/include"
    "${CURRENT_PACKAGES_DIR}/debug/share"
    "${CURRENT_PACKAGES_DIR}/lib/cmake"
    "${CURRENT_PACKAGES_DIR}/debug/lib/cmake")
vcpkg_fixup_pkgconfig()
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
configure_file("${CMAKE_CURRENT_LIST_DIR}/usage" "${CURRENT_PACKAGES_DIR}/share/${PORT}/usage" COPYONLY)
