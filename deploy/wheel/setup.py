"""The wheel that carries the programs of Millrace. scripts/package-wheel.sh copies them beside this file and sets the variables."""

import os

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel


class PlatformWheel(bdist_wheel):
    """A wheel for one platform and any Python 3: it holds programs and no extension module."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class WithPrograms(Distribution):
    """Has what depends on the platform, so that setuptools does not take the wheel for pure Python."""

    def has_ext_modules(self):
        return True


setup(
    name="millrace-server",
    version=os.environ["PACKAGE_VERSION"],
    description="Millrace: an inference server for speech and translation models, as a program",
    long_description=open("README.md", encoding="utf-8").read(),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE", "THIRD_PARTY.md"],
    packages=["millrace_server"],
    package_data={"millrace_server": ["bin/*"]},
    python_requires=">=3.10",
    # libtorch's C++ interface is that of one version. The programs load it from the package's own folder.
    install_requires=[f"torch=={os.environ['TORCH_VERSION']}"],
    # `millrace pull` runs this program.
    extras_require={"models": [f"millrace-models=={os.environ['PACKAGE_VERSION']}"]},
    entry_points={"console_scripts": ["millrace = millrace_server:main"]},
    distclass=WithPrograms,
    cmdclass={"bdist_wheel": PlatformWheel},
)
