#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "mps_runtime/errors.h"
#include "server/scheduling/device.h"

namespace millrace::testing {

// A device without streams: forwards run where they are called. Counts the contexts that are alive,
// and their uses on a thread that is not their own. Thread-safe; set the public fields before.
class FakeDevice final : public server::Device {
 public:
  std::unique_ptr<runtime::WorkerContext> EnterWorker() override {
    const int slot = entered_.fetch_add(1) + 1;
    if (slot > max_workers) throw runtime::StreamPoolExhausted("all streams are leased");
    return std::make_unique<Context>(*this, slot);
  }

  Duration RunForward(runtime::WorkerContext& context, models::Batch& batch) override {
    static_cast<Context&>(context).CheckThread();
    batch.Forward(context);
    return permit_wait;
  }

  bool SharesCompiledShapes() const override { return shares_compiled_shapes; }
  bool ComputesOnWorkers() const override { return computes_on_workers; }

  int alive() const { return alive_; }
  int misused() const { return misused_; }

  int max_workers = runtime::kWorkerSlots;
  Duration permit_wait{};
  bool shares_compiled_shapes = false;
  bool computes_on_workers = true;

 private:
  class Context final : public runtime::WorkerContext {
   public:
    Context(FakeDevice& device, int slot) : device_(device), slot_(slot) { ++device_.alive_; }
    ~Context() override {
      CheckThread();
      --device_.alive_;
    }

    runtime::Stream stream() const override { return {runtime::DeviceType::kCpu, slot_}; }
    runtime::GraphCache& graph_cache() override { return cache_; }
    void Synchronize() override {}

    void CheckThread() {
      if (std::this_thread::get_id() != owner_) ++device_.misused_;
    }

   private:
    FakeDevice& device_;
    const int slot_;
    const std::thread::id owner_ = std::this_thread::get_id();
    runtime::GraphCache cache_{runtime::GraphCache::Limits{}};
  };

  std::atomic<int> entered_{0};
  std::atomic<int> alive_{0};
  std::atomic<int> misused_{0};
};

}  // namespace millrace::testing
