"""The wheel of the package millrace_models. scripts/package-wheel.sh stages the package beside this file and sets the variable."""

import os

from setuptools import setup

setup(
    name="millrace-models",
    version=os.environ["PACKAGE_VERSION"],
    description="Fetches published speech and translation models and converts them for Millrace",
    long_description=open("README.md", encoding="utf-8").read(),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE", "THIRD_PARTY.md"],
    packages=["millrace_models"],
    package_data={"millrace_models": ["lexicons/*"]},
    python_requires=">=3.11",
    install_requires=["numpy", "PyYAML", "sentencepiece"],
    entry_points={"console_scripts": ["millrace-models = millrace_models.__main__:console"]},
)
