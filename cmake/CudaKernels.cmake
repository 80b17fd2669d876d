# Adds operators to the CUDA module, whose kernels are compiled for the card when they are first used. Does nothing where the CUDA
# module is not built or NVRTC is missing.
#
# millrace_add_cuda_operators(OPERATORS.cc KERNELS.cu...): the sources find the text of each KERNELS.cu as the array
# millrace::k<Kernels>Source in "<folder>/<kernels>_source.h".
function(millrace_add_cuda_operators operators)
  if(NOT TARGET millrace_cuda OR NOT NVRTC_LIBRARY OR NOT NVRTC_INCLUDE_DIR)
    return()
  endif()
  foreach(kernels IN LISTS ARGN)
    millrace_embed_text(millrace_cuda "${kernels}" source)
  endforeach()
  target_sources(millrace_cuda PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/${operators}")
endfunction()
