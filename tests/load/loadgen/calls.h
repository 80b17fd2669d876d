#pragma once

#include <cstdint>
#include <memory>

#include "tests/load/loadgen/options.h"
#include "tests/load/loadgen/outputs.h"
#include "tests/load/loadgen/recorder.h"

namespace millrace::loadgen {

// Hears of the end of each call, on one of gRPC's threads or on the one for HTTP.
class CallObserver {
 public:
  virtual void OnCallDone() = 0;

 protected:
  ~CallObserver() = default;
};

// Starts calls of one method over the connections in turn. Thread-safe; Start never blocks. The
// messages are built once, so that a call costs the generator little more than gRPC itself.
class Caller {
 public:
  virtual ~Caller() = default;
  // Call number `index`, which was due at `intended`. Its result goes to the recorder, then the
  // observer hears of it, once.
  virtual void Start(uint64_t index, SteadyTime intended, CallObserver& observer) = 0;
};

// The recorder and the outputs must outlive it, and it must outlive its calls.
std::unique_ptr<Caller> MakeCaller(const Options& options, Recorder& recorder, Outputs& outputs);

}  // namespace millrace::loadgen
