#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "models/core/model_info.h"
#include "models/core/request.h"
#include "mps_runtime/base/clock.h"
#include "mps_runtime/worker_context.h"

namespace millrace::models {

// One step of one or more requests. Used on one worker thread, then destroyed there.
class Batch {
 public:
  virtual ~Batch() = default;

  // Device phase: called while the worker holds a DevicePermit. Must copy the results to the host
  // (Synchronize). May throw c10 errors, which the worker loop catches. A loop over many forwards
  // checks ShouldStop of its requests in each iteration.
  virtual void Forward(runtime::WorkerContext& context) = 0;
  // Host phase: emits outputs, advances the state of each request, and finishes those that are
  // done. A request that is not finished returns to its queue for the next step.
  virtual void Complete() = 0;
  // Returns the time of Forward in which nothing computed, as in the wait for the successor of a
  // process that died: it tells nothing of the pace of the model. After Forward.
  virtual Duration stalled() const { return {}; }
};

// A loaded model: immutable, shared by all workers, destroyed after its last request. Thread-safe.
//
// A request is a sequence of steps (a sentence of speech, some tokens of a translation), so that a
// long request shares the workers fairly with short ones and stops soon after it was cancelled;
// other requests join and leave its batch between two steps. The worker runs a step as Prepare,
// Forward, Complete.
class Model {
 public:
  virtual ~Model() = default;

  virtual const ModelInfo& info() const = 0;
  // Checks an input. The error names the field, the value and what is allowed. Any thread; never
  // blocks, no libtorch.
  virtual absl::Status Validate(const Input& input) const = 0;
  // Estimates the work of a valid input: more than 0, in units of which a worker does about the
  // same number each second whatever the request, such as bytes of text. Any thread; linear in the
  // input's bytes at most. Requests correct it once they are prepared (Request::EstimateWorkLeft).
  virtual double EstimateWork(const Input& /*input*/) const { return 1; }
  // May do host work of a new request's first step early, so that Prepare does less of it while a
  // device waits. Called at most once, on the thread that admits the request; never blocks.
  virtual void PrepareAhead(Request& /*request*/) const {}
  // Host phase without a permit: tokenises, finds phonemes. May Finish a request with an error; the
  // others continue. It must not consume state that a retry needs before Complete: when Forward
  // throws, the worker runs the requests of the batch again one by one, so that only the request at
  // fault fails.
  virtual std::unique_ptr<Batch> Prepare(std::span<Request* const> requests) const = 0;
  // Returns inputs that cover every usual shape bucket. The main thread, then each worker, runs
  // them before the server is ready. Where all threads share compiled shapes, workers run only the
  // first; on the processor they run none.
  virtual std::vector<Input> WarmupInputs() const = 0;
  // Returns the batch sizes in which each warm-up input is run: those whose forwards have shapes of
  // their own.
  virtual std::vector<size_t> WarmupBatches() const { return {1}; }
};

}  // namespace millrace::models
