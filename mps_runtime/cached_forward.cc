#include "mps_runtime/cached_forward.h"

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <exception>
#include <set>
#include <sstream>
#include <string>

#include "mps_runtime/base/log_sink.h"
#include "mps_runtime/base/mutex.h"
#include "mps_runtime/device_traits.h"
#include "mps_runtime/tensor_device.h"

namespace millrace::runtime {
namespace {

// The place of a call's inputs and outputs.
enum class Ends { kDevice, kHost };

// The state of a key: it occurred once, it has a graph, or it runs without one.
class Entry final : public GraphEntry {
 public:
  size_t SizeBytes() const override {
    size_t bytes = graph != nullptr ? graph->SizeBytes() : 0;
    for (const auto* const buffers : {&inputs, &host_inputs, &host_outputs}) {
      for (const at::Tensor& buffer : *buffers) bytes += buffer.nbytes();
    }
    return bytes;
  }

  // Returns true if the graph was recorded for a call of this kind with tensors of these shapes.
  bool Fits(Ends others_ends, const std::vector<at::Tensor>& others) const {
    return ends == others_ends &&
           std::equal(
               inputs.begin(), inputs.end(), others.begin(), others.end(),
               [](const at::Tensor& a, const at::Tensor& b) { return a.sizes() == b.sizes(); });
  }

  bool eager = false;
  Ends ends = Ends::kDevice;
  std::vector<at::Tensor> inputs, outputs;
  // The host tensors that the graph copies from and to, when the call begins and ends on the host.
  std::vector<at::Tensor> host_inputs, host_outputs;
  std::unique_ptr<DeviceGraph> graph;  // null when there is none; declared last, so that it waits
                                       // before the buffers are freed
};

const DeviceTraits& TraitsOf(const WorkerContext& context) {
  return runtime::TraitsOf(context.stream().device);
}

void PrintOnce(const GraphKey& key, const std::string& reason) {
  static Mutex mu;
  static auto* const printed = new std::set<std::string>;
  const std::string name = key.model + "/" + key.entry_point;
  MutexLock lock(mu);
  if (!printed->insert(name).second) return;
  SendToLog(LogSeverity::kWarning,
            name + " runs without a graph: " + reason.substr(0, reason.find('\n')));
}

std::unique_ptr<Entry> Eager() {
  auto entry = std::make_unique<Entry>();
  entry->eager = true;
  return entry;
}

// Returns a buffer on the host for copies to and from the device.
at::Tensor HostBuffer(const WorkerContext& context, const at::Tensor& like) {
  return at::empty(like.sizes(), at::TensorOptions()
                                     .dtype(like.scalar_type())
                                     .pinned_memory(TraitsOf(context).pins_host_memory));
}

std::vector<at::Tensor> HostBuffers(const WorkerContext& context,
                                    const std::vector<at::Tensor>& like) {
  std::vector<at::Tensor> buffers;
  buffers.reserve(like.size());
  for (const at::Tensor& tensor : like) buffers.push_back(HostBuffer(context, tensor));
  return buffers;
}

void CopyAll(const std::vector<at::Tensor>& from, const std::vector<at::Tensor>& to) {
  for (size_t i = 0; i < from.size(); ++i) to[i].copy_(from[i], /*non_blocking=*/true);
}

// `outputs` are those of an earlier run of the same forward, whose shapes they give.
std::unique_ptr<Entry> Record(WorkerContext& context, const GraphKey& key, Ends ends,
                              const std::vector<at::Tensor>& inputs,
                              const std::vector<at::Tensor>& outputs, const Forward& forward) {
  auto entry = std::make_unique<Entry>();
  entry->ends = ends;
  for (const at::Tensor& input : inputs) entry->inputs.push_back(input.clone());
  if (ends == Ends::kHost) {
    entry->host_inputs = HostBuffers(context, inputs);
    entry->host_outputs = HostBuffers(context, outputs);
  }
  try {
    entry->graph = context.Capture([&] {
      CopyAll(entry->host_inputs, entry->inputs);
      entry->outputs = forward(entry->inputs);
      if (ends == Ends::kHost) CopyAll(entry->outputs, entry->host_outputs);
    });
  } catch (const c10::Error& error) {
    PrintOnce(key, error.what_without_backtrace());
  } catch (const std::exception& error) {
    PrintOnce(key, error.what());
  }
  if (entry->graph == nullptr) return Eager();
  return entry;
}

// Describes shapes for people: "[1, 16]", or for several inputs "([1, 16], [3])".
std::string ShapesOf(const std::vector<at::Tensor>& inputs) {
  std::ostringstream text;
  const bool several = inputs.size() != 1;
  if (several) text << '(';
  for (size_t i = 0; i < inputs.size(); ++i) text << (i == 0 ? "" : ", ") << inputs[i].sizes();
  if (several) text << ')';
  return text.str();
}

std::vector<at::Tensor> ToDevice(const WorkerContext& context,
                                 const std::vector<at::Tensor>& inputs) {
  const at::Device device = TensorDevice(context.stream().device);
  std::vector<at::Tensor> moved;
  moved.reserve(inputs.size());
  for (const at::Tensor& input : inputs) moved.push_back(input.to(device));
  return moved;
}

// Waits for the outputs. Other threads may submit work meanwhile, so this wait comes before a copy
// that would wait by itself.
std::vector<at::Tensor> ToHost(WorkerContext& context, const std::vector<at::Tensor>& outputs) {
  if (!TraitsOf(context).pins_host_memory) context.Synchronize();
  std::vector<at::Tensor> host = HostBuffers(context, outputs);
  CopyAll(outputs, host);
  context.Synchronize();
  return host;
}

std::vector<at::Tensor> Run(WorkerContext& context, const GraphKey& key, Ends ends,
                            const std::vector<at::Tensor>& inputs, const Forward& forward) {
  const bool on_host = ends == Ends::kHost;
  auto* const entry = static_cast<Entry*>(context.graph_cache().Find(key));
  if (entry != nullptr && entry->graph != nullptr && entry->Fits(ends, inputs)) {
    CopyAll(inputs, on_host ? entry->host_inputs : entry->inputs);
    entry->graph->Replay();
    if (!on_host) return entry->outputs;
    context.Synchronize();
    return entry->host_outputs;
  }
  // Read before the forward runs: a forward that uses the cache itself may evict the entry.
  const bool came_before = entry != nullptr;
  const bool to_record = came_before && entry->graph == nullptr && !entry->eager;
  const bool to_keep =
      !came_before && context.AdmitShape(key, [&inputs] { return ShapesOf(inputs); });
  // This run also triggers lazy initialisations and allocates workspaces, which cannot be recorded.
  const std::vector<at::Tensor> device_inputs = on_host ? ToDevice(context, inputs) : inputs;
  std::vector<at::Tensor> outputs = forward(device_inputs);
  std::vector<at::Tensor> result = on_host ? ToHost(context, outputs) : outputs;
  if (to_keep) {
    context.graph_cache().Insert(key, std::make_unique<Entry>());
  } else if (to_record) {
    context.Synchronize();
    GraphCache& cache = context.graph_cache();
    if (cache.Insert(key, Record(context, key, ends, device_inputs, outputs, forward)) == nullptr)
      cache.Insert(key, Eager());  // larger than the cache: not to be recorded again and again
  }
  return result;
}

}  // namespace

std::vector<at::Tensor> RunCached(WorkerContext& context, const GraphKey& key,
                                  const std::vector<at::Tensor>& inputs, const Forward& forward) {
  if (!TraitsOf(context).keeps_shapes) return forward(inputs);
  return Run(context, key, Ends::kDevice, inputs, forward);
}

std::vector<at::Tensor> RunCachedOnHost(WorkerContext& context, const GraphKey& key,
                                        const std::vector<at::Tensor>& inputs,
                                        const Forward& forward) {
  if (!TraitsOf(context).keeps_shapes) return forward(inputs);
  return Run(context, key, Ends::kHost, inputs, forward);
}

}  // namespace millrace::runtime
