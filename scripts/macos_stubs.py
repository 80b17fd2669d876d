"""Text stubs of the macOS system libraries that programs for macOS are linked with on another system.

macos_stubs.py LLVM_NM TORCH_LIB OUT

libc++.tbd has the symbols that libtorch's own macOS libraries take from the system's libc++, plus what ours need that
macOS 14 has as well; libobjc.tbd has the two that the MPS backend uses. What is not in a stub fails the link.
"""

import re
import subprocess
import sys
from pathlib import Path

# What our own code takes besides: exceptions, strings and streams, in every libc++, and std::barrier, in it since macOS 11.
OURS = [
    "__ZNKSt11logic_error4whatEv",
    "__ZNSt11logic_errorD2Ev",
    "__ZNSt3__112basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEE6insertENS_11__wrap_iterIPKcEEc",
    "__ZNSt3__112system_errorC1EiRKNS_14error_categoryEPKc",
    "__ZNSt3__113basic_istreamIcNS_11char_traitsIcEEErsERd",
    "__ZNSt3__131__arrive_barrier_algorithm_baseEPNS_24__barrier_algorithm_baseEh",
    "__ZNSt3__132__destroy_barrier_algorithm_baseEPNS_24__barrier_algorithm_baseE",
    "__ZNSt3__134__construct_barrier_algorithm_baseERl",
]
OBJC = ["_objc_autoreleasePoolPush", "_objc_autoreleasePoolPop"]


def imported_from_libcxx(nm: str, library: Path) -> set[str]:
    output = subprocess.run([nm, "-m", "-u", str(library)], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"external (\S+) \(from libc\+\+\)", output))


def write_stub(path: Path, install_name: str, symbols: set[str]) -> None:
    names = ", ".join(f"'{name}'" for name in sorted(symbols))
    path.write_text(
        "--- !tapi-tbd\ntbd-version: 4\ntargets: [ arm64-macos ]\n"
        f"install-name: '{install_name}'\ncurrent-version: 1\n"
        f"exports:\n  - targets: [ arm64-macos ]\n    symbols: [ {names} ]\n...\n"
    )


def main(nm: str, torch_lib: Path, out: Path) -> None:
    symbols = set(OURS)
    for library in sorted(torch_lib.glob("*.dylib")):
        symbols |= imported_from_libcxx(nm, library)
    if len(symbols) < 100:
        sys.exit(f"{nm} finds only {len(symbols)} symbols of libc++ in {torch_lib}")
    write_stub(out / "libc++.tbd", "/usr/lib/libc++.1.dylib", symbols)
    write_stub(out / "libobjc.tbd", "/usr/lib/libobjc.A.dylib", set(OBJC))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
