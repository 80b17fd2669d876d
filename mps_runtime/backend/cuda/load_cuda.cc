#include <dlfcn.h>

#include "mps_runtime/backend/cuda/cuda_module.h"

namespace millrace::runtime {

std::unique_ptr<Backend> MakeCudaBackend(std::string& why_not) {
#ifdef __APPLE__
  why_not = "macOS has no CUDA";
  return nullptr;
#else
  // Without a driver there is no reason to load libraries of a gigabyte.
  if (dlopen("libcuda.so.1", RTLD_LAZY) == nullptr) {
    why_not = "no NVIDIA driver: " + std::string(dlerror());
    return nullptr;
  }
  // An installed program has the module beside it; the tests, which are in folders of their own,
  // find it where it was built. It stays loaded for the life of the process.
  for (const char* path :
       {"$ORIGIN/" MILLRACE_CUDA_MODULE, MILLRACE_BUILD_FOLDER "/" MILLRACE_CUDA_MODULE}) {
    // The symbols are global, because libraries that libtorch loads later look for them.
    void* const module = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (module == nullptr) {
      // Report the first error: what is wrong with the installed module is what matters.
      if (why_not.empty()) why_not = dlerror();
      continue;
    }
    const auto make = reinterpret_cast<MakeCudaBackendFunction>(dlsym(module, kMakeCudaBackend));
    if (make == nullptr) {
      why_not = dlerror();
      return nullptr;
    }
    why_not.clear();
    return std::unique_ptr<Backend>(make(&why_not));
  }
  return nullptr;
#endif
}

}  // namespace millrace::runtime
