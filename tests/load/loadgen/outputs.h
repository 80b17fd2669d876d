#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "mps_runtime/base/mutex.h"

namespace millrace::loadgen {

// 64-bit FNV-1a, over pieces: start with Hash{} and Append in order.
class Hash {
 public:
  void Append(std::string_view bytes);
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

// The output of each input, to tell whether it changes: between calls of one run, and (through the
// file) between runs. Bounded by the number of inputs. Thread-safe.
class Outputs {
 public:
  // The first output of an input is kept; a later one that differs is counted.
  void Add(size_t input, uint64_t bytes, uint64_t hash, std::string_view text);

  uint64_t inconsistent() const MILLRACE_EXCLUDES(mu_);
  // One line of JSON per input. False when the file cannot be written.
  bool Write(const std::string& path) const MILLRACE_EXCLUDES(mu_);

 private:
  struct Output {
    uint64_t bytes = 0;
    uint64_t hash = 0;
    std::string text;
  };

  mutable Mutex mu_;
  std::map<size_t, Output> outputs_ MILLRACE_GUARDED_BY(mu_);
  uint64_t inconsistent_ MILLRACE_GUARDED_BY(mu_) = 0;
};

}  // namespace millrace::loadgen
