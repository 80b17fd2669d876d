#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace millrace::mps_standin {

// The faults of the device, set on purpose. Thread-safe; starts from the environment variable
// MPS_STANDIN_FAULTS, so that it reaches child processes: "key=value" pairs separated by spaces,
// keys as the fields below.
struct Faults {
  // More streams than this with work under way at once crash the process; 0: none do.
  std::atomic<int> limit{0};
  // The probability, in a run of the process, that going over the limit does crash it; 0..1.
  std::atomic<double> crash_probability{1};
  // Over the limit results are wrong, silently, instead of a crash.
  std::atomic<bool> wrong_results{false};
  // Over the limit the GPU stops working, instead of a crash.
  std::atomic<bool> hang{false};
  // A shape that is new on another thread than the main one is compiled for ever.
  std::atomic<bool> hang_on_compile{false};
  // Encoding a graph takes at least this long.
  std::atomic<int64_t> encode_microseconds{0};
  // A thread stays so long inside nn.Linear's kernel.
  std::atomic<int64_t> linear_microseconds{0};
  // Each command buffer takes at least so long on the GPU.
  std::atomic<int64_t> gpu_microseconds{0};
  // Every so many-th command buffer fails with an error of the GPU; 0: none.
  std::atomic<int64_t> error_every{0};
  // Allocations that would go over this many bytes fail; 0: none.
  std::atomic<int64_t> memory_bytes{0};
  // The patch level that libtorch has; 0: it is not patched, and all threads share its graphs and
  // the kernel of nn.Linear.
  std::atomic<int> patch_level{0};
  // Operators fetch their encoder before they go to their stream's queue.
  std::atomic<bool> off_queue{false};
  // All threads share the graphs and the kernel, whatever the patch level.
  std::atomic<bool> shared_caches{false};

  bool SharesCaches() const { return patch_level < 1 || shared_caches; }

  // Sets fields from "key=value ..."; throws std::invalid_argument that names an unknown key.
  void Set(const std::string& text);
};

Faults& TheFaults();

}  // namespace millrace::mps_standin
