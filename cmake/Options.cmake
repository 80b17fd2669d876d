# Warnings, sanitizers and thread-safety annotations for our own targets: link millrace::options PRIVATE.
set(MILLRACE_SANITIZE "" CACHE STRING "Sanitizer suite: empty, thread, or address (address includes undefined)")
set_property(CACHE MILLRACE_SANITIZE PROPERTY STRINGS "" thread address)

add_library(millrace_options INTERFACE)
add_library(millrace::options ALIAS millrace_options)
target_compile_features(millrace_options INTERFACE cxx_std_20)
target_compile_options(millrace_options INTERFACE -Wall -Wextra -Werror
  $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wthread-safety -Werror=thread-safety>)
target_include_directories(millrace_options INTERFACE "${CMAKE_SOURCE_DIR}")

if(MILLRACE_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=thread)
elseif(MILLRACE_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=address,undefined)
elseif(NOT MILLRACE_SANITIZE STREQUAL "")
  message(FATAL_ERROR "MILLRACE_SANITIZE=${MILLRACE_SANITIZE}: allowed are '', 'thread' and 'address'")
endif()

if(MILLRACE_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "MILLRACE_FUZZERS needs clang: cmake --preset asan -DMILLRACE_FUZZERS=ON")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
