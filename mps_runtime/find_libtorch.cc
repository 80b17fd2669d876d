#include "mps_runtime/find_libtorch.h"

#ifdef __GLIBC__
#include <dlfcn.h>
#include <link.h>
#endif

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#if __has_include(<torch/headeronly/version.h>)
#include <torch/headeronly/version.h>
#else
#include <torch/version.h>
#endif

namespace millrace::runtime {
namespace {

// Returns the value of a line such as `git_version = 'd0f2af8'` of a wheel's version.py; empty
// without one.
std::string PythonString(const std::filesystem::path& file, std::string_view name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(std::string(name) + " = '")) continue;
    const size_t begin = line.find('\'') + 1, end = line.find('\'', begin);
    return end == line.npos ? "" : line.substr(begin, end - begin);
  }
  return "";
}

std::string FirstLine(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// Returns "2.15.0" for "2.15.0+cu132", as the library itself reports it; empty for development
// versions, which the library reports in other ways.
std::string Release(const std::string& version) {
  const std::string release = version.substr(0, version.find('+'));
  const bool is_release = release.find_first_not_of("0123456789.") == release.npos &&
                          std::count(release.begin(), release.end(), '.') == 2;
  return is_release ? release : "";
}

// Returns the folders in which the dynamic linker searches the libraries of this program, in its
// order.
std::vector<std::filesystem::path> LibraryPath() {
  std::vector<std::filesystem::path> folders;
#ifdef __GLIBC__
  void* const program = dlopen(nullptr, RTLD_LAZY);
  Dl_serinfo size;
  if (program == nullptr || dlinfo(program, RTLD_DI_SERINFOSIZE, &size) != 0) return folders;
  std::vector<std::max_align_t> memory(size.dls_size / sizeof(std::max_align_t) + 1);
  auto* const info = reinterpret_cast<Dl_serinfo*>(memory.data());
  if (dlinfo(program, RTLD_DI_SERINFOSIZE, info) != 0 ||
      dlinfo(program, RTLD_DI_SERINFO, info) != 0) {
    return folders;
  }
  for (unsigned int i = 0; i < info->dls_cnt; ++i)
    folders.emplace_back(info->dls_serpath[i].dls_name);
#endif
  return folders;
}

}  // namespace

std::string LibtorchCompiledAgainst() {
  return std::to_string(TORCH_VERSION_MAJOR) + '.' + std::to_string(TORCH_VERSION_MINOR) + '.' +
         std::to_string(TORCH_VERSION_PATCH);
}

std::optional<Provenance> DescribeLibtorch(const std::filesystem::path& library) {
  const std::filesystem::path root = library.parent_path() / "..";
  Provenance provenance;
  provenance.libtorch_path = library;
  provenance.compiled_against = LibtorchCompiledAgainst();
  // A wheel has version.py, the archive for C++ the other two.
  provenance.libtorch_version = Release(PythonString(root / "version.py", "__version__"));
  provenance.libtorch_git_revision = PythonString(root / "version.py", "git_version");
  if (provenance.libtorch_version.empty()) {
    provenance.libtorch_version = Release(FirstLine(root / "build-version"));
    provenance.libtorch_git_revision = FirstLine(root / "build-hash");
  }
  if (provenance.libtorch_version.empty() || provenance.libtorch_git_revision.empty())
    return std::nullopt;
  return provenance;
}

std::optional<Provenance> FindLibtorch() {
  for (const std::filesystem::path& folder : LibraryPath()) {
    const std::filesystem::path library = folder / "libtorch_cpu.so";
    std::error_code ignored;
    if (std::filesystem::exists(library, ignored)) return DescribeLibtorch(library);
  }
  return std::nullopt;
}

}  // namespace millrace::runtime
