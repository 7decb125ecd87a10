# SPDX-License-Identifier: Apache-2.0
"""check_recipe.py ROOT VERSION: carries out what conanfile.py says, with stand-ins for Conan's modules.

It shows that the recipe runs, finds the version, and asks for what it should. What Conan makes of it, only Conan shows.
"""
import collections
import importlib.util
import os
import shutil
import subprocess
import sys
import types

root, version = sys.argv[1:]


class Bag:
    """Takes whatever is set, gives what has been set."""

    def __init__(self, **values):
        self.__dict__.update(values)

    def rm_safe(self, name):
        self.__dict__.pop(name, None)


class Recorder:
    """Stands for CMake, CMakeToolchain and CMakeDeps: remembers which methods were called."""

    calls = []
    variables = {}

    def __init__(self, recipe):
        self.cache_variables = Recorder.variables

    def __getattr__(self, method):
        return lambda *arguments: Recorder.calls.append(method)


class Info(Bag):
    """cpp_info, and each of its components."""

    def __init__(self):
        self.components = collections.defaultdict(Info)

    def set_property(self, name, value):
        self.__dict__[name] = value


class Version(tuple):
    """Conan's Version, as far as the recipe compares."""

    def __new__(cls, text):
        return super().__new__(cls, map(int, text.split(".")))

    def __lt__(self, text):
        return tuple(self) < tuple(Version(text))


class Compiler(Bag):
    def __str__(self):
        return self.name


class Invalid(Exception):
    pass


def stand_in(name, **members):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(members)


required_standards, removed, copied = [], [], []
stand_in("conan", ConanFile=object)
stand_in("conan.errors", ConanInvalidConfiguration=Invalid)
stand_in("conan.tools")
stand_in("conan.tools.scm", Version=Version)
stand_in("conan.tools.build", check_min_cppstd=lambda recipe, n: required_standards.append(n), can_run=lambda recipe: True)
stand_in("conan.tools.cmake", CMake=Recorder, CMakeDeps=Recorder, CMakeToolchain=Recorder, cmake_layout=lambda recipe: None)
stand_in(
    "conan.tools.files",
    load=lambda recipe, path: open(path, encoding="utf-8").read(),
    copy=lambda recipe, pattern, src, dst: copied.append(os.path.join(src, pattern)),
    rmdir=lambda recipe, path: removed.append(path),
)


def load_recipe(path, name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(root, path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_recipe(with_zookeeper, compiled=False, program=False, system="Linux", compiler="gcc", compiler_version="12.2"):
    recipe = load_recipe("conanfile.py", "recipe").ElasticjobConan()
    recipe.recipe_folder = recipe.source_folder = root
    recipe.package_folder = "package"
    chosen = {"with_zookeeper": with_zookeeper, "compiled": compiled, "program": program}
    recipe.options = Bag(**recipe.default_options | chosen)
    recipe.settings = Bag(os=system, compiler=Compiler(name=compiler, version=compiler_version))
    recipe.ref = "elasticjob"
    recipe.cpp_info = Info()
    recipe.info = Bag(options=recipe.options, cleared=False)
    recipe.info.clear = lambda: setattr(recipe.info, "cleared", True)
    requirements = {}
    recipe.requires = lambda reference, **traits: requirements.update(
        {reference.split("/")[0]: Bag(version=reference.split("/")[1], traits=traits)})
    Recorder.calls, Recorder.variables = [], {}
    for step in ("set_version", "configure", "layout", "requirements", "validate", "package_id", "generate", "build", "package",
                 "package_info"):
        getattr(recipe, step)()
    return recipe, requirements, dict(Recorder.variables)


def check(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found}, expected {expected}")


everything, requirements, variables = run_recipe(with_zookeeper=True)
check("version", everything.version, version)
check("requirements", sorted(requirements), ["boost", "rapidjson", "zookeeper-client-c"])
check("headers of all are seen", [r.traits.get("transitive_headers") for r in requirements.values()], [True] * len(requirements))
check("a range of versions of each", [r.version for r in requirements.values() if not r.version.startswith("[>=")], [])
check("options of other packages", [name for name in everything.default_options if "/" in name], [])
check("standards", required_standards, [20])
check("type", everything.package_type, "header-library")
check("calls", Recorder.calls, ["generate", "generate", "configure", "install"])
check("one package for all settings", everything.info.cleared, True)
check("libraries are built", variables.get("ELASTICJOB_BUILD_COMPILED"), False)
check("headers have no kind of code", hasattr(everything.options, "fPIC"), False)
check("tests are built", variables.get("ELASTICJOB_BUILD_TESTS"), False)
check("the licence is there", [os.path.exists(f) for f in copied], [True])

core, core_requirements, variables = run_recipe(with_zookeeper=False)
check("requirements of the core", sorted(core_requirements), ["boost", "rapidjson"])
check("ZooKeeper is looked for", not variables.get("CMAKE_DISABLE_FIND_PACKAGE_ZooKeeper"), False)

# Conan writes the package files, with the targets and modules of those that the library installs elsewhere.
for folder in "share/cmake", "share/doc", "share/pkgconfig":
    check(f"the library's own {folder} is gone", os.path.join("package", folder) in removed, True)


def components(recipe):
    return {info.cmake_target_name: info for info in recipe.cpp_info.components.values()}


check("targets", sorted(components(everything)), ["elasticjob::core", "elasticjob::elasticjob"])
check("targets of the core", sorted(components(core)), ["elasticjob::core"])
check("modules", sorted(i.pkg_config_name for i in components(everything).values()), ["elasticjob", "elasticjob-core"])
check("definitions", components(everything)["elasticjob::elasticjob"].defines, ["THREADED"])
check("definitions of the core", getattr(components(everything)["elasticjob::core"], "defines", []), [])
for recipe, asked in (everything, requirements), (core, core_requirements):
    used = [name.split("::")[0] for info in components(recipe).values() for name in info.requires if "::" in name]
    check("each requirement is of use to one target", sorted(used), sorted(asked))

# With the compiled libraries.
compiled, compiled_requirements, variables = run_recipe(with_zookeeper=True, compiled=True)
check("type with libraries", compiled.package_type, "static-library")
check("a package for each setting", compiled.info.cleared, False)
check("shared libraries can contain it", getattr(compiled.options, "fPIC", False), True)
check("calls with libraries", Recorder.calls, ["generate", "generate", "configure", "build", "install"])
check("libraries are built", variables.get("ELASTICJOB_BUILD_COMPILED"), True)
check("requirements with libraries", sorted(compiled_requirements), sorted(requirements))
check("targets with libraries", sorted(components(compiled)),
      ["elasticjob::compiled", "elasticjob::compiled_core", "elasticjob::core", "elasticjob::elasticjob"])
check("modules with libraries", sorted(i.pkg_config_name for i in components(compiled).values()),
      ["elasticjob", "elasticjob-compiled", "elasticjob-compiled-core", "elasticjob-core"])
for name, info in components(compiled).items():
    library = name.replace("::", "_")
    check(f"libraries of {name}", getattr(info, "libs", []), [library] if "compiled" in name else [])
    check(f"{name} looks for libraries", getattr(info, "libdirs", ["lib"]), ["lib"] if "compiled" in name else [])
check("definitions of the libraries", components(compiled)["elasticjob::compiled_core"].defines, ["ELASTICJOB_COMPILED"])
check("what the library stands on", components(compiled)["elasticjob::compiled"].requires, ["compiled_core", "zookeeper"])
check("what its core stands on", components(compiled)["elasticjob::compiled_core"].requires, ["core"])
for folder in "lib/cmake", "lib/pkgconfig":
    check(f"{folder} is gone", os.path.join("package", folder) in removed, True)
compiled_core, _, _ = run_recipe(with_zookeeper=False, compiled=True)
check("targets of the core with its library", sorted(components(compiled_core)), ["elasticjob::compiled_core", "elasticjob::core"])

# With the program, which is there to be run.
with_program, program_requirements, variables = run_recipe(with_zookeeper=True, program=True)
check("type with the program", with_program.package_type, "unknown")
check("a package for each setting of the program", with_program.info.cleared, False)
check("calls with the program", Recorder.calls, ["generate", "generate", "configure", "build", "install"])
check("the program is built", variables.get("ELASTICJOB_BUILD_PROGRAM"), True)
check("the program is not built", run_recipe(with_zookeeper=True)[2].get("ELASTICJOB_BUILD_PROGRAM"), False)
check("requirements of the program", sorted(set(program_requirements) - set(requirements)), ["cli11", "openssl"])
for name in "cli11", "openssl":
    check(f"{name} is the program's own", program_requirements[name].traits["visible"], False)
check("CLI11's library is linked if it has one", program_requirements["cli11"].traits.get("libs", True), True)
check("where the program is", components(with_program)["elasticjob::core"].bindirs, ["bin"])
check("where no program is", components(everything)["elasticjob::core"].bindirs, [])

# What the recipe exports is there.
for pattern in everything.exports_sources:
    check(f"{pattern} exists", os.path.exists(os.path.join(root, pattern.removesuffix("/*"))), True)

for refused in {"with_zookeeper": False, "program": True}, {"system": "Windows"}, {"compiler_version": "11"}, {"compiler": "clang", "compiler_version": "15.0"}:
    try:
        run_recipe(**{"with_zookeeper": True} | refused)
    except Invalid:
        continue
    sys.exit(f"{refused} is accepted")

# What `conan create .` and `conan build .` leave in a checkout is no change of it.
if shutil.which("git") and subprocess.run(["git", "-C", root, "status"], capture_output=True, check=False).returncode == 0:
    for left in "build", "CMakeUserPresets.json", "test_package/build":
        path = os.path.join(left, "file") if left.endswith("build") else left
        ignored = subprocess.run(["git", "-C", root, "check-ignore", "-q", path], check=False).returncode
        check(f"git ignores {left}", ignored, 0)

load_recipe("test_package/conanfile.py", "test_recipe")
print(f"the recipe of elasticjob {everything.version} runs")
