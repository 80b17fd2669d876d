# Compiles and links for macOS on Apple silicon on a Linux machine, against libtorch's own macOS libraries: see scripts/check-macos.sh,
# which makes what MACOS_CROSS_DIR holds.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(MACOS_CROSS_DIR "$ENV{MACOS_CROSS_DIR}")
set(CMAKE_CXX_COMPILER "${MACOS_CROSS_DIR}/bin/c++")
set(CMAKE_OSX_SYSROOT "")
set(CMAKE_OSX_DEPLOYMENT_TARGET "")
# A program of CMake's own would need what is only set below.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
# As the Mac's own compiler and headers have it: no sized operator delete, and nothing inlined that its libc++ has.
set(CMAKE_CXX_FLAGS_INIT
  "-target aarch64-macos.14.0 -fno-sized-deallocation -D_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=1 -Wno-macro-redefined")
# The C++ library of the system, which libtorch uses too: with a second one exceptions would not be caught across the two.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-target aarch64-macos.14.0 -nostdlib++ -L${MACOS_CROSS_DIR}/stubs")
set(CMAKE_CXX_STANDARD_LIBRARIES "${MACOS_CROSS_DIR}/stubs/libc++.tbd")
