#include <ATen/Version.h>
#include <caffe2/core/common.h>
#include <dlfcn.h>

#include "mps_runtime/find_libtorch.h"
#include "mps_runtime/provenance.h"
#include "mps_runtime/stream_symbols.h"

namespace millrace::runtime {
namespace {

// Returns a setting of libtorch's own build. It is not read by at::show_config, which looks for
// CUDA, and libtorch looks only once: the backend, with CUDA's libraries, is loaded after the
// version has been checked.
std::string BuildSetting(const std::string& name) {
  const auto& settings = caffe2::GetBuildOptions();
  const auto found = settings.find(name);
  return found == settings.end() ? "unknown" : found->second;
}

std::string LoadedFrom(const void* symbol) {
  Dl_info info{};
  return dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "unknown";
}

// libtorch has no version query for its pool of MPS streams; the exported symbols show which
// interface it has.
std::string PoolSymbols() {
  if (dlsym(RTLD_DEFAULT, kGetStreamById) != nullptr) return kStreamsByNumber;
  if (dlsym(RTLD_DEFAULT, kGetStreamFromPool) != nullptr) return "getStreamFromPool";
  return "none";
}

}  // namespace

int ReadMpsPatchLevel() {
  const auto level = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, kPatchLevel));
  return level == nullptr ? 0 : level();
}

Provenance ReadLibtorchProvenance() {
  Provenance provenance;
  provenance.libtorch_version = BuildSetting("TORCH_VERSION");
  provenance.libtorch_git_revision = BuildSetting("COMMIT_SHA");
  provenance.libtorch_path = LoadedFrom(reinterpret_cast<const void*>(&caffe2::GetBuildOptions));
  provenance.compiled_against = LibtorchCompiledAgainst();
  provenance.blas = BuildSetting("BLAS_INFO");
  provenance.cpu_capability = at::get_cpu_capability();
  provenance.pool_symbols = PoolSymbols();
  provenance.mps_patch_level = ReadMpsPatchLevel();
  return provenance;
}

}  // namespace millrace::runtime
