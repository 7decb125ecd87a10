# SPDX-License-Identifier: Apache-2.0
# The machine's own package of a dependency, as ConanCenter's recipe of that name offers it: names, targets, places.
import os
import pathlib

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration

required_conan_version = ">=2.0"

HEADERS = {
    "boost": ["boost"],
    "rapidjson": ["rapidjson"],
    "zookeeper-client-c": ["zookeeper"],
    "cli11": ["CLI"],
    "openssl": ["openssl"],
}


class StandIn(ConanFile):
    package_type = "header-library"

    def package(self):
        include = pathlib.Path(self.package_folder, "include")
        include.mkdir()
        for name in HEADERS[self.name]:
            found = next((path for path in (f"/usr/local/include/{name}", f"/usr/include/{name}") if os.path.isdir(path)), None)
            if not found:
                raise ConanInvalidConfiguration(f"there is no {name}/ in /usr/include, from which to make {self.ref}")
            if self.name == "zookeeper-client-c":  # ConanCenter's has no folder
                for header in pathlib.Path(found).glob("*.h"):
                    (include / header.name).symlink_to(header)
            else:
                (include / name).symlink_to(found)

    def package_info(self):
        if self.name == "boost":
            self.cpp_info.set_property("cmake_file_name", "Boost")
            self.cpp_info.components["headers"].set_property("cmake_target_name", "Boost::headers")
        elif self.name == "rapidjson":
            self.cpp_info.set_property("cmake_file_name", "RapidJSON")
            self.cpp_info.set_property("cmake_target_name", "rapidjson")
        elif self.name == "cli11":
            self.cpp_info.set_property("cmake_file_name", "CLI11")
            self.cpp_info.set_property("cmake_target_name", "CLI11::CLI11")
        elif self.name == "openssl":
            self.cpp_info.set_property("cmake_file_name", "OpenSSL")
            self.cpp_info.components["ssl"].set_property("cmake_target_name", "OpenSSL::SSL")
            self.cpp_info.components["ssl"].system_libs = ["ssl", "crypto"]
        elif self.name == "zookeeper-client-c":
            self.cpp_info.system_libs = ["zookeeper_mt"]
