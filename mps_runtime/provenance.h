#pragma once

#include <string>

namespace millrace::runtime {

// The libraries that are really in use, read from the loaded libraries and not from the headers
// that this was compiled with. What is not known is empty.
struct Provenance {
  std::string device;                 // "cpu", "cuda" or "mps"
  std::string device_name;            // such as the CPU's model
  std::string libtorch_version;       // the loaded library's, such as "2.15.0"
  std::string libtorch_git_revision;  // "unknown" when the library does not tell
  std::string libtorch_path;          // file that the loaded library came from
  std::string compiled_against;       // version of the headers
  std::string blas;                   // such as "mkl"
  std::string cpu_capability;         // instruction set of ATen's kernels, such as "AVX2"
  std::string pool_symbols;           // its MPS stream pool's offer: "none", "getStreamFromPool" or
                                      // "getStreamByID"
  int mps_patch_level = 0;            // the level of deploy/libtorch/patch; 0: it is not patched
  std::string threads;                // such as "cores=8 workers=2 intra_op=4"
};

// The greatest patch level that this program knows.
inline constexpr int kMaxMpsPatchLevel = 1;

// Returns what the loaded libtorch says that its patch level is; 0 when it says nothing.
int ReadMpsPatchLevel();

// Reads everything but device, device_name and threads. It takes some file and symbol look-ups, so
// it is meant for start-up.
Provenance ReadLibtorchProvenance();

// Throws std::runtime_error when the loaded libtorch is not the version that this was compiled
// against, or not the required one, or when its patch level is unknown or not borne out by its
// stream pool. `required` is empty for any, else a version or a prefix of one that ends at a dot:
// "2.15" allows 2.15.0.
void CheckLibtorch(const Provenance& provenance, const std::string& required);

// Returns one line of key=value pairs; values with spaces are quoted.
std::string ToLogLine(const Provenance& provenance);

}  // namespace millrace::runtime
