#pragma once

#include "mps_runtime/graph_cache.h"
#include "mps_runtime/worker_context.h"

namespace millrace::models {

// A worker's context without a device behind it: what a test thread runs a forward with.
class FakeWorkerContext final : public runtime::WorkerContext {
 public:
  runtime::Stream stream() const override { return {}; }
  runtime::GraphCache& graph_cache() override { return cache_; }
  void Synchronize() override {}

 private:
  runtime::GraphCache cache_{runtime::GraphCache::Limits{}};
};

}  // namespace millrace::models
