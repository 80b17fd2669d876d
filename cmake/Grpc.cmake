# gRPC C++ as millrace::grpc. Found by name: resolving grpc++ through pkg-config takes many
# seconds a call, and Debian 12 ships no CMake package for it.
find_package(absl REQUIRED)
find_path(GRPCPP_INCLUDE_DIR grpcpp/grpcpp.h REQUIRED)
foreach(part grpc++ grpc gpr)
  find_library(GRPC_LIBRARY_${part} ${part} REQUIRED)
endforeach()
add_library(millrace_grpc INTERFACE)
add_library(millrace::grpc ALIAS millrace_grpc)
target_include_directories(millrace_grpc SYSTEM INTERFACE "${GRPCPP_INCLUDE_DIR}")
# gRPC's headers lock absl::Mutex inline.
target_link_libraries(millrace_grpc INTERFACE
  "${GRPC_LIBRARY_grpc++}" "${GRPC_LIBRARY_grpc}" "${GRPC_LIBRARY_gpr}" absl::synchronization protobuf::libprotobuf)
