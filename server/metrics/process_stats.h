#pragma once

namespace millrace::server {

// What the operating system says of this process; 0 where it does not.
struct ProcessStats {
  double resident_bytes = 0;      // on macOS the footprint
  double cpu_seconds = 0;         // user and system
  double start_time_seconds = 0;  // since the epoch
  double open_fds = 0;
};

// A few system calls; any thread.
ProcessStats ReadProcessStats();

}  // namespace millrace::server
