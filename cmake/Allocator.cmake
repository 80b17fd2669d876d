# The daemon's allocator as millrace::allocator. A request's memory is allocated on the polling threads and freed on a worker's, which
# glibc's allocator is slow at; macOS keeps its own, and the sanitizers bring theirs.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT MILLRACE_SANITIZE)
  set(default_allocator jemalloc)
else()
  set(default_allocator system)
endif()
set(MILLRACE_ALLOCATOR "${default_allocator}" CACHE STRING "Allocator of the daemon: jemalloc or system")
set_property(CACHE MILLRACE_ALLOCATOR PROPERTY STRINGS jemalloc system)

add_library(millrace_allocator INTERFACE)
add_library(millrace::allocator ALIAS millrace_allocator)
if(MILLRACE_ALLOCATOR STREQUAL "jemalloc")
  find_library(JEMALLOC_LIBRARY jemalloc REQUIRED)
  # A program that calls nothing of it by name is linked with it all the same.
  target_link_libraries(millrace_allocator INTERFACE -Wl,--push-state,--no-as-needed "${JEMALLOC_LIBRARY}" -Wl,--pop-state)
  target_compile_definitions(millrace_allocator INTERFACE MILLRACE_JEMALLOC)
elseif(NOT MILLRACE_ALLOCATOR STREQUAL "system")
  message(FATAL_ERROR "MILLRACE_ALLOCATOR=${MILLRACE_ALLOCATOR}: allowed are 'jemalloc' and 'system'")
endif()
