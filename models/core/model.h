#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "models/core/model_info.h"
#include "models/core/request.h"
#include "mps_runtime/worker_context.h"

namespace millrace::models {

// One step of one or more requests, between its host phases. Used on one worker thread, then
// destroyed there.
class Batch {
 public:
  virtual ~Batch() = default;

  // Device phase: called while the worker holds a DevicePermit. Must leave the results on the host
  // (Synchronize). May throw c10 errors: the worker loop catches them. A loop of many forwards asks
  // ShouldStop of its requests once per iteration.
  virtual void Forward(runtime::WorkerContext& context) = 0;
  // Host phase: emits outputs, advances each request's state, and finishes those that are done. A
  // request that it leaves unfinished goes back to the queue for its next step.
  virtual void Complete() = 0;
};

// A loaded model: immutable, shared by all workers, destroyed after its last request. Thread-safe.
//
// A request is a sequence of steps (a sentence of speech, some tokens of a translation), so that a
// long one shares the workers fairly with short ones and stops soon after it was cancelled; between
// two steps others join and leave its batch. The worker runs a step as Prepare, Forward, Complete.
class Model {
 public:
  virtual ~Model() = default;

  virtual const ModelInfo& info() const = 0;
  // Says what is wrong with an input, naming field, value and what is allowed. Any thread; never
  // blocks, no libtorch.
  virtual absl::Status Validate(const Input& input) const = 0;
  // How much work an input is: more than 0, in units of which a worker does about as many a second
  // whatever the request, such as bytes of text. Validated inputs only; any thread, no more than a
  // look at each byte. Requests correct it once they are prepared (Request::EstimateWorkLeft).
  virtual double EstimateWork(const Input& /*input*/) const { return 1; }
  // Host phase without a permit: tokenise, find phonemes. May Finish a request with an error; the
  // others go on. State that another attempt would miss must not be consumed before Complete: when
  // Forward throws, the worker runs the requests of a batch again one by one, so that the one at
  // fault fails alone.
  virtual std::unique_ptr<Batch> Prepare(std::span<Request* const> requests) const = 0;
  // Inputs that touch every usual shape bucket; the main thread, then each worker, runs them before
  // the server is ready. Where what was compiled for a shape serves all threads, workers run the
  // first alone.
  virtual std::vector<Input> WarmupInputs() const = 0;
  // In how many requests at once each of them comes: the sizes of batches whose forwards have
  // shapes of their own.
  virtual std::vector<size_t> WarmupBatches() const { return {1}; }
};

}  // namespace millrace::models
