#pragma once

#include <string>

namespace millrace::server {

// A request that stands for those of its bucket of a histogram.
struct Exemplar {
  std::string trace_id;  // 32 hexadecimal digits
  double value = 0;
  double unix_seconds = 0;  // when it was observed
};

}  // namespace millrace::server
