# Finds libtorch without its own CMake package: that one demands a CUDA toolkit for a CUDA build, which a CPU box does not have.
# Looks in CMAKE_PREFIX_PATH first (libtorch's folder, or what torch.utils.cmake_prefix_path says), then in the project's .venv.
# Defines millrace::torch and TORCH_LIBRARY_DIR.
find_path(TORCH_INCLUDE_DIR ATen/ATen.h
  HINTS ${CMAKE_PREFIX_PATH}
  PATH_SUFFIXES include torch/include ../../include
  NO_DEFAULT_PATH)
if(NOT TORCH_INCLUDE_DIR)
  file(GLOB _torch_venv "${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch")
  find_path(TORCH_INCLUDE_DIR ATen/ATen.h HINTS ${_torch_venv} PATH_SUFFIXES include NO_DEFAULT_PATH)
endif()
if(NOT TORCH_INCLUDE_DIR)
  message(FATAL_ERROR "libtorch not found: run `make deps` (installs it into .venv) or pass -DCMAKE_PREFIX_PATH=<libtorch>")
endif()
get_filename_component(TORCH_INCLUDE_DIR "${TORCH_INCLUDE_DIR}" ABSOLUTE)
get_filename_component(_torch_root "${TORCH_INCLUDE_DIR}" DIRECTORY)
set(TORCH_LIBRARY_DIR "${_torch_root}/lib")
find_library(TORCH_CPU_LIBRARY torch_cpu HINTS "${TORCH_LIBRARY_DIR}" NO_DEFAULT_PATH REQUIRED)
find_library(C10_LIBRARY c10 HINTS "${TORCH_LIBRARY_DIR}" NO_DEFAULT_PATH REQUIRED)

# For the CUDA backend; empty where there is none. The wheels bring the CUDA runtime in folders beside torch.
find_library(TORCH_CUDA_LIBRARY torch_cuda HINTS "${TORCH_LIBRARY_DIR}" NO_DEFAULT_PATH)
find_library(C10_CUDA_LIBRARY c10_cuda HINTS "${TORCH_LIBRARY_DIR}" NO_DEFAULT_PATH)
file(GLOB _cuda_wheels "${_torch_root}/../nvidia/cu*")
# Its headers are complete only with those of a second wheel.
find_path(CUDA_RUNTIME_INCLUDE_DIR crt/host_defines.h HINTS ${_cuda_wheels} /usr/local/cuda PATH_SUFFIXES include)
find_library(CUDA_RUNTIME_LIBRARY NAMES libcudart.so.13 libcudart.so.12 cudart
  HINTS ${_cuda_wheels} /usr/local/cuda PATH_SUFFIXES lib lib64)
# The compiler of kernels at run time, which libtorch's CUDA wheels depend on.
find_path(NVRTC_INCLUDE_DIR nvrtc.h HINTS ${_cuda_wheels} /usr/local/cuda PATH_SUFFIXES include)
find_library(NVRTC_LIBRARY NAMES libnvrtc.so.13 libnvrtc.so.12 nvrtc
  HINTS ${_cuda_wheels} /usr/local/cuda PATH_SUFFIXES lib lib64)

add_library(millrace_torch INTERFACE)
add_library(millrace::torch ALIAS millrace_torch)
# SYSTEM: its headers are not held to our warnings. Only targets that link this see them: the wheel's include folder carries
# its own fmt/ and google/protobuf/ that would shadow the system's.
target_include_directories(millrace_torch SYSTEM INTERFACE
  "${TORCH_INCLUDE_DIR}" "${TORCH_INCLUDE_DIR}/torch/csrc/api/include")
# A file then sees the operators that it includes, not all two thousand by way of Tensor.h.
target_compile_definitions(millrace_torch INTERFACE AT_PER_OPERATOR_HEADERS)
target_link_libraries(millrace_torch INTERFACE "${TORCH_CPU_LIBRARY}" "${C10_LIBRARY}")
# The wheel's libraries find their CUDA runtime beside them by RPATH; the linker need not look into those.
target_link_options(millrace_torch INTERFACE
  $<$<PLATFORM_ID:Linux>:-Wl,--allow-shlib-undefined> "-Wl,-rpath,${TORCH_LIBRARY_DIR}")
# Nothing of the static libraries in a program may stand in for what libtorch brings itself: with g++ 13 and libtorch 2.11 programs died
# as they ended. The sanitizers' run-time libraries are static and must be seen.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT MILLRACE_SANITIZE)
  target_link_options(millrace_torch INTERFACE -Wl,--exclude-libs,ALL)
endif()
