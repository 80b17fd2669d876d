# Adds operators to the CUDA module, whose kernels are compiled for the card when they are first used. Does nothing where the CUDA
# module is not built or NVRTC is missing.
#
# millrace_add_cuda_operators(OPERATORS.cc KERNELS.cu): the sources find the text of KERNELS.cu as the array millrace::k<Kernels>Source in
# "<folder>/<kernels>_source.h".
function(millrace_add_cuda_operators operators kernels)
  if(NOT TARGET millrace_cuda OR NOT NVRTC_LIBRARY OR NOT NVRTC_INCLUDE_DIR)
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${kernels}")
  file(READ "${kernels}" KERNELS_TEXT)
  cmake_path(GET kernels FILENAME KERNELS_FILE)
  cmake_path(REMOVE_EXTENSION kernels OUTPUT_VARIABLE header)
  string(REGEX REPLACE "[^/]*/|\\.cu$" "" words "${kernels}")
  string(REPLACE "_" ";" words "${words}")
  set(KERNELS_VARIABLE k)
  foreach(word IN LISTS words)
    string(SUBSTRING "${word}" 0 1 initial)
    string(SUBSTRING "${word}" 1 -1 rest)
    string(TOUPPER "${initial}" initial)
    string(APPEND KERNELS_VARIABLE "${initial}${rest}")
  endforeach()
  configure_file("${CMAKE_SOURCE_DIR}/cmake/cuda_kernels_source.h.in" "${header}_source.h" @ONLY)
  target_sources(millrace_cuda PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/${operators}")
  target_include_directories(millrace_cuda PRIVATE "${CMAKE_BINARY_DIR}")
endfunction()
