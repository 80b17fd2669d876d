#include "mps_runtime/backend/cuda/cuda_kernels.h"

#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>
#include <nvrtc.h>

#include <type_traits>

#include "mps_runtime/backend/cuda/halves_source.h"

namespace millrace::runtime {

CudaKernels::Driver CudaKernels::Driver::Find() {
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY);
  if (library == nullptr) return {};
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
  };
  Driver driver;
  find(driver.load_module, "cuModuleLoadData");
  find(driver.get_function, "cuModuleGetFunction");
  find(driver.set_attribute, "cuFuncSetAttribute");
  find(driver.launch, "cuLaunchKernelEx");
  return driver;
}

CudaKernels::CudaKernels(const char* source, const char* file, int capability) {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, c10::cuda::current_device()) != cudaSuccess) {
    why_not_ = "the device does not tell its properties";
    return;
  }
  capability_ = 10 * properties.major + properties.minor;
  if (capability_ < capability) {
    why_not_ = "the device has a compute capability of " + std::to_string(properties.major) + "." +
               std::to_string(properties.minor) + ", they need " + std::to_string(capability / 10) +
               "." + std::to_string(capability % 10);
    return;
  }
  if (!driver_.complete()) {
    why_not_ = "the driver is too old";
    return;
  }
  multiprocessors_ = properties.multiProcessorCount;
  begins_early_ = properties.major >= 9;
  max_shared_bytes_ = static_cast<int64_t>(properties.sharedMemPerBlockOptin);
  const std::string code = Compile(source, file, properties);
  if (why_not_.empty() && driver_.load_module(&module_, code.data()) != CUDA_SUCCESS)
    why_not_ = "the driver does not load them";
}

CUfunction CudaKernels::Find(const char* name, int64_t shared_bytes) {
  CUfunction kernel = nullptr;
  if (!why_not_.empty()) return kernel;
  if (driver_.get_function(&kernel, module_, name) != CUDA_SUCCESS) {
    why_not_ = std::string("the kernel ") + name + " is missing";
  } else if (shared_bytes > 0 &&
             driver_.set_attribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                   static_cast<int>(shared_bytes)) != CUDA_SUCCESS) {
    why_not_ = "the device has too little shared memory";
  }
  return kernel;
}

void CudaKernels::Submit(CUfunction kernel, dim3 grid, dim3 block, int64_t shared_bytes,
                         void** arguments, bool early) const {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{};
  config.gridDimX = grid.x;
  config.gridDimY = grid.y;
  config.gridDimZ = grid.z;
  config.blockDimX = block.x;
  config.blockDimY = block.y;
  config.blockDimZ = block.z;
  config.sharedMemBytes = static_cast<unsigned>(shared_bytes);
  config.hStream = c10::cuda::getCurrentCUDAStream().stream();
  config.attrs = &attribute;
  config.numAttrs = early && begins_early_ ? 1 : 0;
  const CUresult result = driver_.launch(&config, kernel, arguments, nullptr);
  TORCH_CHECK(result == CUDA_SUCCESS, "a kernel was not launched: error ", static_cast<int>(result),
              " of the CUDA driver");
}

std::string CudaKernels::Compile(const char* source, const char* file,
                                 const cudaDeviceProp& properties) {
  nvrtcProgram program = nullptr;
  // Messages count the lines of `source`.
  const std::string text = std::string(kHalvesSource) + "#line 1\n" + source;
  nvrtcCreateProgram(&program, text.c_str(), file, 0, nullptr, nullptr);
  // From Hopper on, the instructions of one architecture alone need its suffix.
  const std::string target =
      "--gpu-architecture=sm_" + std::to_string(capability_) + (properties.major >= 9 ? "a" : "");
  const std::array<const char*, 2> options = {target.c_str(), "--std=c++17"};
  const nvrtcResult result =
      nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
  size_t size = 0;
  std::string code;
  if (result == NVRTC_SUCCESS && nvrtcGetCUBINSize(program, &size) == NVRTC_SUCCESS) {
    code.resize(size);
    nvrtcGetCUBIN(program, code.data());
  } else {
    nvrtcGetProgramLogSize(program, &size);
    std::string log(size, '\0');
    nvrtcGetProgramLog(program, log.data());
    why_not_ = std::string(nvrtcGetErrorString(result)) + ": " + log.substr(0, log.find('\n'));
  }
  nvrtcDestroyProgram(&program);
  return code;
}

}  // namespace millrace::runtime
