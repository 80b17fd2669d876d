# Compiles for Linux on arm64 on a machine of another architecture, and runs the tests with an emulator: see scripts/check-arm64.sh, which
# makes the folder var/arm64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
cmake_path(ABSOLUTE_PATH CMAKE_CURRENT_LIST_DIR NORMALIZE OUTPUT_VARIABLE ARM64_DIR)
cmake_path(SET ARM64_DIR NORMALIZE "${ARM64_DIR}/../var/arm64")
set(CMAKE_SYSROOT "${ARM64_DIR}/sysroot")
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L "${CMAKE_SYSROOT}")
# Programs that run while building, as protoc, are this machine's. All else is found in the folder only: the system's packages in its
# sysroot, libtorch beside it.
set(CMAKE_FIND_ROOT_PATH "${ARM64_DIR}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${CMAKE_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig")
# Where the linker mold has the name that this compiler looks for.
foreach(kind EXE MODULE SHARED)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-B${ARM64_DIR}/bin")
endforeach()
