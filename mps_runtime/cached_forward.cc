#include "mps_runtime/cached_forward.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "mps_runtime/base/mutex.h"

namespace millrace::runtime {
namespace {

// What is known of a key: that it came once, its record, or that it runs without one.
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

std::unique_ptr<Entry> Eager() {
  auto entry = std::make_unique<Entry>();
  entry->eager = true;
  return entry;
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
  if (entry->graph == nullptr) return Eager();
  return entry;
}

// For people: "[1, 16]", or for several inputs "([1, 16], [3])".
std::string ShapesOf(const std::vector<at::Tensor>& inputs) {
  std::ostringstream text;
  const bool several = inputs.size() != 1;
  if (several) text << '(';
  for (size_t i = 0; i < inputs.size(); ++i) text << (i == 0 ? "" : ", ") << inputs[i].sizes();
  if (several) text << ')';
  return text.str();
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
  // Asked now: a forward that uses the cache itself may evict the entry.
  const bool came_before = entry != nullptr;
  const bool to_record = came_before && entry->graph == nullptr && !entry->eager;
  const bool to_keep =
      !came_before && context.AdmitShape(key, [&inputs] { return ShapesOf(inputs); });
  // Also lets lazy initialisations and workspaces happen, which cannot be recorded.
  std::vector<at::Tensor> outputs = forward(inputs);
  if (to_keep) {
    context.graph_cache().Insert(key, std::make_unique<Entry>());
  } else if (to_record) {
    context.Synchronize();
    GraphCache& cache = context.graph_cache();
    if (cache.Insert(key, Record(context, key, inputs, forward)) == nullptr)
      cache.Insert(key, Eager());  // larger than the cache: not to be recorded again and again
  }
  return outputs;
}

}  // namespace millrace::runtime
