#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <string>

namespace millrace::runtime {

// The kernels of one source text, behind that of halves.cu, compiled by NVRTC for the current
// device. They stay loaded for the life of the process, so an object of this class is never
// destroyed. Immutable once it is made up; any number of threads may then launch them.
class CudaKernels {
 public:
  // Compiles, which takes some tenths of a second to two. capability: the least compute capability
  // of a device that can run them, times ten. file: the name of the source in messages.
  CudaKernels(const char* source, const char* file, int capability);

  // Returns why the kernels cannot be launched, or an empty string.
  const std::string& why_not() const { return why_not_; }
  // The device's compute capability, times ten.
  int capability() const { return capability_; }
  int multiprocessors() const { return multiprocessors_; }
  // The most shared memory of a block, in bytes.
  int64_t max_shared_bytes() const { return max_shared_bytes_; }

  // Returns a kernel that may use so much dynamic shared memory. If there is none, why_not() then
  // says so.
  CUfunction Find(const char* name, int64_t shared_bytes = 0);

  // Submits a kernel to the current stream. The arguments are those that the kernel declares.
  // Throws c10::Error.
  template <typename... Arguments>
  void Launch(CUfunction kernel, dim3 grid, dim3 block, int64_t shared_bytes,
              const Arguments&... arguments) const {
    std::array<void*, sizeof...(Arguments)> pointers = {
        const_cast<void*>(static_cast<const void*>(&arguments))...};
    Submit(kernel, grid, block, shared_bytes, pointers.data(), /*early=*/false);
  }

  // Submits a kernel that may begin before the one before it has ended, where the device can do
  // that. It must await that one (griddepcontrol.wait) before it reads what that one writes, writes
  // anything or lets the next begin. The last work in the stream must be a kernel.
  template <typename... Arguments>
  void LaunchEarly(CUfunction kernel, dim3 grid, dim3 block, int64_t shared_bytes,
                   const Arguments&... arguments) const {
    std::array<void*, sizeof...(Arguments)> pointers = {
        const_cast<void*>(static_cast<const void*>(&arguments))...};
    Submit(kernel, grid, block, shared_bytes, pointers.data(), /*early=*/true);
  }

 private:
  // The functions of the driver, which is loaded and never linked.
  struct Driver {
    decltype(&cuModuleLoadData) load_module = nullptr;
    decltype(&cuModuleGetFunction) get_function = nullptr;
    decltype(&cuFuncSetAttribute) set_attribute = nullptr;
    decltype(&cuLaunchKernelEx) launch = nullptr;

    static Driver Find();
    bool complete() const {
      return load_module != nullptr && get_function != nullptr && set_attribute != nullptr &&
             launch != nullptr;
    }
  };

  void Submit(CUfunction kernel, dim3 grid, dim3 block, int64_t shared_bytes, void** arguments,
              bool early) const;
  std::string Compile(const char* source, const char* file, const cudaDeviceProp& properties);

  const Driver driver_ = Driver::Find();
  CUmodule module_ = nullptr;
  std::string why_not_;
  int capability_ = 0;
  int multiprocessors_ = 1;
  bool begins_early_ = false;  // the device has programmatic dependent launch
  int64_t max_shared_bytes_ = 0;
};

// Returns how many parts of a size cover a whole.
inline unsigned Parts(int64_t whole, int64_t part) {
  return static_cast<unsigned>((whole + part - 1) / part);
}

}  // namespace millrace::runtime
