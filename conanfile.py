# SPDX-License-Identifier: Apache-2.0
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir
from conan.tools.scm import Version

required_conan_version = ">=2.0"


class ElasticjobConan(ConanFile):
    name = "elasticjob"
    description = "Elastic sharded jobs over ZooKeeper, header-only C++20"
    license = "Apache-2.0"
    topics = ("scheduler", "cron", "sharding", "zookeeper", "header-only")

    package_type = "header-library"  # see configure
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "with_zookeeper": [True, False],
        "compiled": [True, False],
        "program": [True, False],
        "fPIC": [True, False],
    }
    default_options = {"with_zookeeper": True, "compiled": False, "program": False, "fPIC": True}
    exports_sources = "CMakeLists.txt", "LICENSE", "cmake/*", "include/*"

    def set_version(self):
        # The version is written in one header.
        header = load(self, os.path.join(self.recipe_folder, "include/elasticjob/core/version.hpp"))
        numbers = re.findall(r"#define ELASTICJOB_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
        self.version = ".".join(numbers)

    def configure(self):
        if self.options.compiled:
            self.package_type = "static-library"
        else:
            self.options.rm_safe("fPIC")
            if self.options.program:
                self.package_type = "unknown"  # headers and a program

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        # Our headers include theirs. The ranges leave the choice to who uses several libraries.
        self.requires("boost/[>=1.74 <2]", transitive_headers=True)
        # ConanCenter names its versions after days. The release before them, 1.1.0, is not accepted by later compilers.
        self.requires("rapidjson/[>=cci.20200410]", transitive_headers=True)
        if self.options.with_zookeeper:
            self.requires("zookeeper-client-c/[>=3.8.1 <4]", transitive_headers=True, transitive_libs=True)
        if self.options.program:
            # Only the program needs them, so they are nobody else's.
            self.requires("cli11/[>=2.1 <3]", visible=False)
            self.requires("openssl/[>=1.1 <4]", visible=False)

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration(f"{self.ref} is for Linux, not for {self.settings.os}")
        if self.options.program and not self.options.with_zookeeper:
            raise ConanInvalidConfiguration(f"{self.ref}: the option program needs the option with_zookeeper")
        compiler = self.settings.compiler
        oldest = {"gcc": "12", "clang": "16"}.get(str(compiler))
        if oldest and Version(compiler.version) < oldest:
            raise ConanInvalidConfiguration(f"{self.ref} needs {compiler} {oldest} or later, not {compiler.version}")

    def package_id(self):
        # Headers only: one package for all settings. The option with_zookeeper says only what else is installed.
        if not self.info.options.compiled and not self.info.options.program:
            self.info.clear()

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "EXAMPLES", "BENCHMARKS"):
            toolchain.cache_variables[f"ELASTICJOB_BUILD_{part}"] = False
        toolchain.cache_variables["ELASTICJOB_BUILD_COMPILED"] = bool(self.options.compiled)
        toolchain.cache_variables["ELASTICJOB_BUILD_PROGRAM"] = bool(self.options.program)
        toolchain.cache_variables["ELASTICJOB_PROGRAM_DATABASES"] = False  # none of them is required here
        toolchain.cache_variables["CMAKE_INSTALL_LIBDIR"] = "lib"  # where Conan looks for libraries
        if not self.options.with_zookeeper:
            toolchain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_ZooKeeper"] = True
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        if self.options.compiled or self.options.program:
            cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))
        # Conan's generators write the files for CMake and pkg-config: they know where the dependencies are, and what
        # ZooKeeper's library is called there. What else is in share/ belongs to the program.
        for folder in ("share/cmake", "share/doc", "share/pkgconfig", "lib/cmake", "lib/pkgconfig"):
            rmdir(self, os.path.join(self.package_folder, folder))

    def package_info(self):
        # The targets of the CMake package that the library installs elsewhere. Conan's own target for all components
        # would have the name of one of them.
        self.cpp_info.set_property("cmake_file_name", "elasticjob")
        self.cpp_info.set_property("cmake_target_name", "elasticjob_all_do_not_use")
        self.cpp_info.set_property("pkg_config_name", "elasticjob_all_do_not_use")

        core = self.cpp_info.components["core"]
        core.set_property("cmake_target_name", "elasticjob::core")
        core.set_property("pkg_config_name", "elasticjob-core")
        core.requires = ["boost::headers", "rapidjson::rapidjson"]
        core.system_libs = ["pthread"]

        if self.options.with_zookeeper:
            zookeeper = self.cpp_info.components["zookeeper"]
            zookeeper.set_property("cmake_target_name", "elasticjob::elasticjob")
            zookeeper.set_property("pkg_config_name", "elasticjob")
            zookeeper.requires = ["core", "zookeeper-client-c::zookeeper-client-c"]
            zookeeper.defines = ["THREADED"]  # ZooKeeper's header asks for it

        for component in self.cpp_info.components.values():
            component.bindirs = []
            component.libdirs = []
        if self.options.program:
            core.bindirs = ["bin"]

        if self.options.compiled:
            compiled_core = self.cpp_info.components["compiled_core"]
            compiled_core.set_property("cmake_target_name", "elasticjob::compiled_core")
            compiled_core.set_property("pkg_config_name", "elasticjob-compiled-core")
            compiled_core.requires = ["core"]
            compiled_core.libs = ["elasticjob_compiled_core"]
            compiled_core.defines = ["ELASTICJOB_COMPILED"]
            compiled_core.bindirs = []
        if self.options.compiled and self.options.with_zookeeper:
            compiled = self.cpp_info.components["compiled"]
            compiled.set_property("cmake_target_name", "elasticjob::compiled")
            compiled.set_property("pkg_config_name", "elasticjob-compiled")
            compiled.requires = ["compiled_core", "zookeeper"]
            compiled.libs = ["elasticjob_compiled"]
            compiled.bindirs = []
