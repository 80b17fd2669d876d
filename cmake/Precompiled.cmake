# Precompiled headers: each target gets one that holds the large headers of the libraries it sees, of the standard library, abseil,
# Protobuf, gRPC, libtorch and GoogleTest. Parsing those takes most of the time of a cold build.
#
# A header is compiled once for each combination of libraries in use and shared by all targets of that combination: what a target does
# not link is not in its precompiled header either. Our own headers are in none: changing one must not compile everything again.
option(MILLRACE_PRECOMPILE_HEADERS "Precompile the headers of libraries" ON)

set(MILLRACE_PRECOMPILED_std
  <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <cstring> <deque> <functional> <map> <memory> <mutex> <optional>
  <set> <span> <string> <string_view> <thread> <unordered_map> <utility> <variant> <vector>)
set(MILLRACE_PRECOMPILED_absl <absl/status/status.h> <absl/status/statusor.h> <absl/strings/str_cat.h>)
set(MILLRACE_PRECOMPILED_protobuf
  <google/protobuf/arena.h> <google/protobuf/generated_message_util.h> <google/protobuf/map_entry.h> <google/protobuf/message.h>
  <google/protobuf/repeated_field.h> <google/protobuf/unknown_field_set.h>)
set(MILLRACE_PRECOMPILED_grpc <grpcpp/grpcpp.h> <grpcpp/impl/codegen/proto_utils.h>)
set(MILLRACE_PRECOMPILED_torch
  <ATen/Parallel.h> <ATen/TensorOperators.h> <ATen/core/Tensor.h> <ATen/ops/arange.h> <ATen/ops/cat.h> <ATen/ops/conv1d.h>
  <ATen/ops/empty.h> <ATen/ops/from_blob.h> <ATen/ops/matmul.h> <ATen/ops/ones.h> <ATen/ops/softmax.h> <ATen/ops/zeros.h>
  <c10/core/InferenceMode.h>)
# What sees httplib handles JSON too, and every combination costs a header of a hundred megabytes.
set(MILLRACE_PRECOMPILED_httplib <httplib.h> <nlohmann/json.hpp>)
set(MILLRACE_PRECOMPILED_json <nlohmann/json.hpp>)
set(MILLRACE_PRECOMPILED_gtest <gmock/gmock.h> <gtest/gtest.h>)

# By which target a library is known. The standard library and abseil, which nearly all targets see, are in all headers.
set(MILLRACE_PRECOMPILED_TARGET_absl absl::status)
set(MILLRACE_PRECOMPILED_TARGET_protobuf protobuf::libprotobuf)
set(MILLRACE_PRECOMPILED_TARGET_grpc millrace_grpc)
set(MILLRACE_PRECOMPILED_TARGET_torch millrace_torch)
set(MILLRACE_PRECOMPILED_TARGET_httplib PkgConfig::HTTPLIB)
set(MILLRACE_PRECOMPILED_TARGET_json nlohmann_json::nlohmann_json)
set(MILLRACE_PRECOMPILED_TARGET_gtest GTest::gtest)

# Adds what the target's sources see by way of the libraries to the list: a PRIVATE dependency of a library is not among it.
function(millrace_visible_targets list libraries)
  set(seen "${${list}}")
  foreach(library ${libraries})
    if(NOT TARGET "${library}")
      continue()
    endif()
    get_target_property(aliased "${library}" ALIASED_TARGET)
    if(aliased)
      set(library "${aliased}")
    endif()
    if(library IN_LIST seen)
      continue()
    endif()
    list(APPEND seen "${library}")
    get_target_property(next "${library}" INTERFACE_LINK_LIBRARIES)
    if(next)
      millrace_visible_targets(seen "${next}")
    endif()
  endforeach()
  set(${list} "${seen}" PARENT_SCOPE)
endfunction()

# The target that compiles the header of these parts with these options of a folder; made when it is first asked for.
function(millrace_precompiled_target result parts options)
  list(JOIN parts _ name)
  set(name "millrace_precompiled_${name}")
  # The last level of optimization is the one that counts. The plain name is that of -O2.
  set(levels ${options})
  list(FILTER levels INCLUDE REGEX "^-O")
  if(levels)
    list(POP_BACK levels level)
    if(NOT level STREQUAL "-O2")
      string(APPEND name "${level}")
    endif()
  endif()
  set(${result} "${name}" PARENT_SCOPE)
  if(TARGET "${name}")
    return()
  endif()
  # A library must have a source.
  set(source "${CMAKE_BINARY_DIR}/precompiled/empty.cc")
  file(CONFIGURE OUTPUT "${source}" CONTENT "")
  add_library("${name}" OBJECT EXCLUDE_FROM_ALL "${source}")
  target_link_libraries("${name}" PRIVATE millrace::options)
  set_target_properties("${name}" PROPERTIES COMPILE_OPTIONS "${options}")
  foreach(part ${parts})
    target_precompile_headers("${name}" PRIVATE ${MILLRACE_PRECOMPILED_${part}})
    if(DEFINED MILLRACE_PRECOMPILED_TARGET_${part})
      target_link_libraries("${name}" PRIVATE ${MILLRACE_PRECOMPILED_TARGET_${part}})
    endif()
  endforeach()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Lets ccache see which precompiled header an object came from.
    target_compile_options("${name}" PRIVATE -fpch-preprocess)
  endif()
endfunction()

function(millrace_precompile_target target)
  get_target_property(type "${target}" TYPE)
  # A module is position-independent in another way than the rest, which a precompiled header does not allow.
  if(NOT type MATCHES "^(STATIC_LIBRARY|EXECUTABLE)$")
    return()
  endif()
  get_target_property(options "${target}" COMPILE_OPTIONS)
  get_target_property(directory "${target}" SOURCE_DIR)
  get_directory_property(directory_options DIRECTORY "${directory}" COMPILE_OPTIONS)
  if(options AND NOT options STREQUAL directory_options)
    return()
  endif()
  get_target_property(libraries "${target}" LINK_LIBRARIES)
  set(visible "")
  if(libraries)
    millrace_visible_targets(visible "${libraries}")
  endif()
  set(parts std)
  if(TARGET absl::status)
    list(APPEND parts absl)
  endif()
  foreach(part protobuf grpc torch httplib json gtest)
    if(MILLRACE_PRECOMPILED_TARGET_${part} IN_LIST visible)
      list(APPEND parts ${part})
    endif()
  endforeach()
  # Too few targets see JSON beside one of these for a header of their own.
  foreach(part protobuf torch httplib)
    if(part IN_LIST parts)
      list(REMOVE_ITEM parts json)
    endif()
  endforeach()
  millrace_precompiled_target(header "${parts}" "${directory_options}")
  target_precompile_headers("${target}" REUSE_FROM "${header}")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options("${target}" PRIVATE -fpch-preprocess)
    # Behind a precompiled header GCC takes inlined code of the standard library for ours and warns of bytes that it does not touch (GCC
    # bug 105651). The sources are kept free of that for GCC 12 alone.
    if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
      target_compile_options("${target}" PRIVATE -Wno-error=array-bounds -Wno-error=restrict -Wno-error=stringop-overflow
        -Wno-error=stringop-overread)
    endif()
  endif()
  # Files with options of their own, as kernels of one instruction set.
  get_target_property(sources "${target}" SOURCES)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${directory}")
    get_source_file_property(source_options "${source}" TARGET_DIRECTORY "${target}" COMPILE_OPTIONS)
    if(source_options)
      set_source_files_properties("${source}" TARGET_DIRECTORY "${target}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()

# Precompiles for all targets of the folder and of those below it. Called last, when all of them are known.
function(millrace_precompile_headers directory)
  if(NOT MILLRACE_PRECOMPILE_HEADERS)
    return()
  endif()
  get_directory_property(targets DIRECTORY "${directory}" BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    millrace_precompile_target("${target}")
  endforeach()
  get_directory_property(subdirectories DIRECTORY "${directory}" SUBDIRECTORIES)
  foreach(subdirectory ${subdirectories})
    millrace_precompile_headers("${subdirectory}")
  endforeach()
endfunction()
