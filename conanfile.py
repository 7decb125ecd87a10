# SPDX-License-Identifier: Apache-2.0
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

required_conan_version = ">=2.0"


class ElasticjobConan(ConanFile):
    name = "elasticjob"
    description = "Elastic sharded jobs over ZooKeeper, header-only C++20"
    license = "Apache-2.0"
    topics = ("scheduler", "cron", "sharding", "zookeeper", "header-only")

    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"with_zookeeper": [True, False]}
    default_options = {"with_zookeeper": True, "boost/*:header_only": True}
    exports_sources = "CMakeLists.txt", "LICENSE", "cmake/*", "include/*"

    def set_version(self):
        # The version is written in one header.
        header = load(self, os.path.join(self.recipe_folder, "include/elasticjob/core/version.hpp"))
        numbers = re.findall(r"#define ELASTICJOB_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
        self.version = ".".join(numbers)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        # Our headers include theirs.
        self.requires("boost/[>=1.81 <2]", transitive_headers=True)
        self.requires("range-v3/[>=0.12 <1]", transitive_headers=True)
        self.requires("rapidjson/cci.20230929", transitive_headers=True)
        if self.options.with_zookeeper:
            self.requires("zookeeper-client-c/[>=3.8.1 <4]", transitive_headers=True, transitive_libs=True)

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("elasticjob is for Linux")

    def package_id(self):
        # Headers only: one package for all settings. The option says only what else is installed.
        self.info.clear()

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "EXAMPLES", "BENCHMARKS"):
            toolchain.cache_variables[f"ELASTICJOB_BUILD_{part}"] = False
        if not self.options.with_zookeeper:
            toolchain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_ZooKeeper"] = True
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        CMake(self).configure()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))
        rmdir(self, os.path.join(self.package_folder, "share", "doc"))
        # Conan's generators know where the dependencies are, and what ZooKeeper's library is called there.
        rmdir(self, os.path.join(self.package_folder, "share", "pkgconfig"))

    def package_info(self):
        # Users get the CMake package that the library installs itself, so it is the same one everywhere.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["share/cmake/elasticjob"]
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        if self.options.with_zookeeper:
            self.cpp_info.defines = ["THREADED"]  # libzookeeper's header asks for it
        self.cpp_info.system_libs = ["pthread"]
