# SPDX-License-Identifier: Apache-2.0
# An overlay port: it installs the tree that it stands in.
#   vcpkg install elasticjob --classic --overlay-ports=packaging/vcpkg/ports
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

set(VCPKG_BUILD_TYPE release) # header-only
# Without the feature a ZooKeeper that happens to be on the machine is of no interest.
vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
    INVERTED_FEATURES zookeeper CMAKE_DISABLE_FIND_PACKAGE_ZooKeeper)
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        ${FEATURE_OPTIONS}
        -DELASTICJOB_BUILD_TESTS=OFF
        -DELASTICJOB_BUILD_EXAMPLES=OFF
        -DELASTICJOB_BUILD_BENCHMARKS=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/elasticjob)
# vcpkg wants a .pc file that links something below lib/. The other one, elasticjob.pc, is of no use here: it names
# ZooKeeper's library as Debian does, and vcpkg calls it something else.
file(MAKE_DIRECTORY "${CURRENT_PACKAGES_DIR}/lib/pkgconfig")
file(RENAME
    "${CURRENT_PACKAGES_DIR}/share/pkgconfig/elasticjob-core.pc"
    "${CURRENT_PACKAGES_DIR}/lib/pkgconfig/elasticjob-core.pc")
file(REMOVE_RECURSE
    "${CURRENT_PACKAGES_DIR}/share/cmake"
    "${CURRENT_PACKAGES_DIR}/share/doc"
    "${CURRENT_PACKAGES_DIR}/share/pkgconfig")
vcpkg_fixup_pkgconfig()
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
configure_file("${CMAKE_CURRENT_LIST_DIR}/usage" "${CURRENT_PACKAGES_DIR}/share/${PORT}/usage" COPYONLY)
