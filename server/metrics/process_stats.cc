#include "server/metrics/process_stats.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "server/metrics/metric_writer.h"

#ifdef __APPLE__
#include <mach/mach.h>
#endif

namespace millrace::server {
namespace {

double OpenFds() {
#ifdef __APPLE__
  constexpr const char* kFolder = "/dev/fd";
#else
  constexpr const char* kFolder = "/proc/self/fd";
#endif
  std::error_code error;
  const std::filesystem::directory_iterator entries(kFolder, error);
  if (error) return 0;
  return static_cast<double>(std::distance(begin(entries), end(entries)) -
                             1);  // without the descriptor that reads the folder
}

// Initialised before main, which is close enough to the start of the process.
const std::chrono::system_clock::time_point kStart = std::chrono::system_clock::now();

}  // namespace

double ResidentBytes() {
#ifdef __APPLE__
  // macOS itself reports the footprint: resident_size does not include the GPU's memory.
  task_vm_info_data_t info;
  mach_msg_type_number_t count = TASK_VM_INFO_COUNT;
  if (task_info(mach_task_self(), TASK_VM_INFO, reinterpret_cast<task_info_t>(&info), &count) !=
      KERN_SUCCESS)
    return 0;
  return static_cast<double>(info.phys_footprint);
#else
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  double resident = 0;
  statm >> pages >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
#endif
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

ProcessStats ReadProcessStats() {
  return {.resident_bytes = ResidentBytes(),
          .cpu_seconds = CpuSeconds(),
          .start_time_seconds = std::chrono::duration<double>(kStart.time_since_epoch()).count(),
          .open_fds = OpenFds()};
}

void CollectProcess(MetricWriter& writer) {
  const ProcessStats stats = ReadProcessStats();
  writer.Gauge("process_resident_memory_bytes", "Resident memory.", stats.resident_bytes);
  writer.Counter("process_cpu_seconds_total", "User and system time spent.", stats.cpu_seconds);
  writer.Gauge("process_start_time_seconds", "Start of the process since the epoch.",
               stats.start_time_seconds);
  writer.Gauge("process_open_fds", "Open file descriptors.", stats.open_fds);
}

}  // namespace millrace::server
