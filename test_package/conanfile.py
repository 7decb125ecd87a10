# SPDX-License-Identifier: Apache-2.0
# `conan create .` builds this against the package that it has made, and runs a job with it.
import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout


class TestPackageConan(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps"

    def requirements(self):
        self.requires(self.tested_reference_str, run=True)  # the program, too

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False  # nothing to be left in the tree
        package = self.dependencies["elasticjob"]
        toolchain.cache_variables["WITH_ZOOKEEPER"] = bool(package.options.with_zookeeper)
        toolchain.cache_variables["COMPILED"] = bool(package.options.compiled)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            version = self.dependencies["elasticjob"].ref.version
            self.run(os.path.join(self.cpp.build.bindir, "consumer") + f" {version}", env="conanrun")
            if self.dependencies["elasticjob"].options.program:
                self.run("elasticjob --version", env="conanrun")
