#pragma once

namespace millrace::server {

class MetricWriter;

// Values that the operating system reports of this process; 0 for those that it does not report.
struct ProcessStats {
  double resident_bytes = 0;      // on macOS the memory footprint
  double cpu_seconds = 0;         // user and system time
  double start_time_seconds = 0;  // since the epoch
  double open_fds = 0;
};

// Costs a few system calls. Any thread.
ProcessStats ReadProcessStats();

// Collects the metrics of the process.
void CollectProcess(MetricWriter& writer);

// Return one of these values each, for what reads them often.
double ResidentBytes();
double CpuSeconds();

}  // namespace millrace::server
