#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "mps_runtime/graph_cache.h"
#include "mps_runtime/worker_context.h"

namespace millrace::runtime {

// A forward from tensors to tensors that submits the same work for the same shapes: it does not
// branch on values of a tensor on the device, copies nothing to the host and draws no random
// numbers.
using Forward = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;

// Runs the forward through the thread's graph cache, within a ForwardScope of the context. The
// first two times for a key it runs eagerly, and the second time it is then recorded with buffers
// of its own: a shape that occurs once is not worth a graph. From then on the inputs are copied
// into those buffers and the graph is replayed. Equal keys promise equal types and work; shapes are
// compared. Where nothing can be recorded, the forward just runs: on the CPU, on the main thread's
// stream, or when the device refuses to record it (the reason is logged once for each key's model
// and entry point).
//
// A key that the thread's cache does not hold is first checked with WorkerContext::AdmitShape. If
// the cache may not take it, the forward runs eagerly and leaves the cache as it is, or is refused.
//
// The outputs are the graph's buffers. They are valid until the next call with the same key on this
// thread, or until the entry is evicted, whichever comes first; copy what has to live longer.
// Throws what the forward throws, DeviceError, and ShapeRefused.
std::vector<at::Tensor> RunCached(WorkerContext& context, const GraphKey& key,
                                  const std::vector<at::Tensor>& inputs, const Forward& forward);

// Does the same with inputs and outputs on the host, and waits for them, as a server does with a
// request. Inputs and outputs are CPU tensors, those of the forward are on the device. The graph
// holds the copies as well, from and to page-locked memory, so that a replay is one submission. In
// encode-lock mode other threads submit during the wait. The outputs are valid as long as those of
// RunCached; the two must not share keys.
std::vector<at::Tensor> RunCachedOnHost(WorkerContext& context, const GraphKey& key,
                                        const std::vector<at::Tensor>& inputs,
                                        const Forward& forward);

}  // namespace millrace::runtime
