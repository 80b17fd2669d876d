"""Starts the programs of Millrace, which this package carries, with the libtorch of the package torch."""

import importlib.metadata
import importlib.util
import os
import pathlib
import sys
import sysconfig

FOLDER = pathlib.Path(__file__).resolve().parent


def required_torch() -> str:
    """The version that this package requires, such as 2.15.0."""
    [requirement] = [line for line in importlib.metadata.requires("millrace-server") or [] if line.startswith("torch==")]
    return requirement.removeprefix("torch==")


def torch_libraries() -> pathlib.Path:
    """The folder of libtorch. The package torch is found and not imported, which would take a second."""
    required = required_torch()
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise SystemExit(f"millrace: the package torch is missing: pip install torch=={required}")
    # A local part such as +cpu says how it was built, and the interface is the same.
    version = importlib.metadata.version("torch")
    if version.partition("+")[0] != required:
        raise SystemExit(f"millrace: torch {version} is installed, and these programs were built with {required}: pip install torch=={required}")
    return pathlib.Path(spec.origin).parent / "lib"


def main() -> None:
    """Becomes the program, so that signals and its exit status are its own."""
    libraries = torch_libraries()
    # The programs look beside this package. It may be elsewhere, as in an environment that sees the system's packages.
    if libraries != FOLDER.parent / "torch" / "lib":
        variable = "DYLD_LIBRARY_PATH" if sys.platform == "darwin" else "LD_LIBRARY_PATH"
        os.environ[variable] = os.pathsep.join(filter(None, [str(libraries), os.environ.get(variable)]))
    # The programs of this environment, such as millrace-models, are found though it is not activated.
    os.environ["PATH"] = os.pathsep.join(filter(None, [os.environ.get("PATH"), sysconfig.get_path("scripts")]))
    program = FOLDER / "bin" / "millrace"
    os.execv(program, ["millrace", *sys.argv[1:]])
