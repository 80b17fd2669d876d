#include "mps_runtime/cached_forward.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <set>
#include <string>
#include <utility>

#include "mps_runtime/base/mutex.h"

namespace millrace::runtime {
namespace {

// What is known of a key: that it came once, its record, or that it cannot be recorded.
class Entry final : public GraphEntry {
 public:
  size_t SizeBytes() const override {
    size_t bytes = graph != nullptr ? graph->SizeBytes() : 0;
    for (const at::Tensor& input : inputs) bytes += input.nbytes();
    return bytes;
  }

  // Whether the record was made for tensors of these shapes.
  bool Fits(const std::vector<at::Tensor>& others) const {
    return std::equal(
        inputs.begin(), inputs.end(), others.begin(), others.end(),
        [](const at::Tensor& a, const at::Tensor& b) { return a.sizes() == b.sizes(); });
  }

  bool eager = false;
  std::vector<at::Tensor> inputs, outputs;
  std::unique_ptr<DeviceGraph> graph;  // null: none. Last: it waits before the buffers go
};

void PrintOnce(const GraphKey& key, const std::string& reason) {
  static Mutex mu;
  static auto* const printed = new std::set<std::string>;
  const std::string name = key.model + "/" + key.entry_point;
  MutexLock lock(mu);
  if (!printed->insert(name).second) return;
  std::fprintf(stderr, "millrace: %s runs without a graph: %s\n", name.c_str(),
               reason.substr(0, reason.find('\n')).c_str());
}

std::unique_ptr<Entry> Record(WorkerContext& context, const GraphKey& key,
                              const std::vector<at::Tensor>& inputs, const Forward& forward) {
  auto entry = std::make_unique<Entry>();
  for (const at::Tensor& input : inputs) entry->inputs.push_back(input.clone());
  try {
    entry->graph = context.Capture([&] { entry->outputs = forward(entry->inputs); });
  } catch (const c10::Error& error) {
    PrintOnce(key, error.what_without_backtrace());
  } catch (const std::exception& error) {
    PrintOnce(key, error.what());
  }
  if (entry->graph == nullptr) {
    entry->eager = true;
    entry->inputs.clear();
    entry->outputs.clear();
  }
  return entry;
}

}  // namespace

std::vector<at::Tensor> RunCached(WorkerContext& context, const GraphKey& key,
                                  const std::vector<at::Tensor>& inputs, const Forward& forward) {
  // There is nothing to record, and nothing to keep, on the CPU.
  if (context.stream().device == DeviceType::kCpu) return forward(inputs);

  auto* const entry = static_cast<Entry*>(context.graph_cache().Find(key));
  if (entry != nullptr && entry->graph != nullptr && entry->Fits(inputs)) {
    for (size_t i = 0; i < inputs.size(); ++i)
      entry->inputs[i].copy_(inputs[i], /*non_blocking=*/true);
    entry->graph->Replay();
    return entry->outputs;
  }
  // Also lets lazy initialisations and workspaces happen, which cannot be recorded.
  std::vector<at::Tensor> outputs = forward(inputs);
  if (entry == nullptr) {
    context.graph_cache().Insert(key, std::make_unique<Entry>());
  } else if (entry->graph == nullptr && !entry->eager) {
    context.Synchronize();
    context.graph_cache().Insert(key, Record(context, key, inputs, forward));
  }
  return outputs;
}

}  // namespace millrace::runtime
