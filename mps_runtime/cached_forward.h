#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "mps_runtime/graph_cache.h"
#include "mps_runtime/worker_context.h"

namespace millrace::runtime {

// A forward from tensors to tensors that submits the same work for the same shapes: no branch on
// the values of a tensor on the device, no copy to the host, no random numbers.
using Forward = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;

// Runs the forward through the thread's graph cache, within a ForwardScope of the context. The
// first time for a key it runs eagerly, the second time too and is then recorded with buffers of
// its own: what comes once is not worth a record. From then on the inputs are copied into those
// buffers and the record is replayed. Equal keys promise equal types and work; shapes are compared.
// Where nothing can be recorded (the CPU, the main thread's stream, a
// forward that the device refuses to record: the reason is printed once for each key's model and
// entry point) it just runs.
//
// A key that the thread's cache does not hold is asked for first (WorkerContext::AdmitShape): one
// that it may not take runs eagerly, and leaves the cache as it is, or not at all.
//
// The outputs are those buffers: they hold until the next call with the same key on this thread, or
// until the entry is evicted, whichever is first; copy what is to live longer. Throws what the
// forward throws, DeviceError, and ShapeRefused.
std::vector<at::Tensor> RunCached(WorkerContext& context, const GraphKey& key,
                                  const std::vector<at::Tensor>& inputs, const Forward& forward);

// The same from the host to the host, and waited for: what a server does with a request. Inputs and
// outputs are CPU tensors, the forward's are on the device. The record holds the copies as well,
// from and to page-locked memory, so that a replay is one submission. In encode-lock mode other
// threads submit during the wait. The outputs hold as long as those of RunCached, whose keys it
// must not share.
std::vector<at::Tensor> RunCachedOnHost(WorkerContext& context, const GraphKey& key,
                                        const std::vector<at::Tensor>& inputs,
                                        const Forward& forward);

}  // namespace millrace::runtime
