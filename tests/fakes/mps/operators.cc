// libtorch's operators for the stand-in's device: each is encoded to the current stream and runs
// later, on the GPU's thread, as the CPU's operator on the same memory. Arguments are held as plain
// addresses, so that memory which is freed or changed too early gives wrong numbers.
#include "tests/fakes/mps/operators.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/mps/MPSStream.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/view_native.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "tests/fakes/mps/faults.h"
#include "tests/fakes/mps/graph_cache.h"
#include "tests/fakes/mps/rules.h"
#include "tests/fakes/mps/stream.h"

namespace millrace::mps_standin {
namespace {

using torch::jit::Stack;

void CheckType(c10::ScalarType type) {
  TORCH_CHECK_TYPE(type != at::kDouble,
                   "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't "
                   "support float64. Please use float32 instead.");
}

// The same memory as a tensor of the CPU, which does not keep it.
at::Tensor OnHost(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_mps()) return tensor;
  return at::from_blob(tensor.mutable_data_ptr(), tensor.sizes(), tensor.strides(),
                       at::TensorOptions().dtype(tensor.dtype()).device(at::kCPU));
}

at::Tensor OnMeta(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_mps()) return tensor;
  return at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(at::kMeta));
}

at::Tensor Like(const at::Tensor& tensor) {
  if (!tensor.is_non_overlapping_and_dense())
    return at::empty(tensor.sizes(), tensor.options().device(at::kMPS));
  return at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(at::kMPS));
}

// The value with each tensor replaced, inside lists too.
template <typename Map>
c10::IValue MapTensors(const c10::IValue& value, const Map& map, c10::DeviceType device) {
  if (value.isTensor()) return map(value.toTensor());
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(map(tensor));
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      list.push_back(tensor ? std::optional<at::Tensor>(map(*tensor)) : std::nullopt);
    }
    return list;
  }
  if (value.isDevice() && value.toDevice().is_mps()) return c10::Device(device);
  return value;
}

template <typename Map>
Stack MapTensors(const Stack& values, const Map& map, c10::DeviceType device) {
  Stack mapped;
  for (const c10::IValue& value : values) mapped.push_back(MapTensors(value, map, device));
  return mapped;
}

at::mps::MPSStream& CurrentStream() { return *at::mps::getCurrentMPSStream(); }

// Every operator that computes is taken to be a graph, where libtorch has kernels for some. The
// constants of a call are not part of the key, so that more calls share a graph than in libtorch.
std::string GraphKey(const c10::OperatorHandle& op, const Stack& arguments) {
  std::string key = c10::toString(op.operator_name());
  for (const c10::IValue& argument : arguments) {
    if (argument.isTensor() && argument.toTensor().defined())
      key += c10::str(" ", argument.toTensor().sizes());
  }
  return key;
}

// On the GPU's thread.
void Call(const c10::OperatorHandle& op, Stack& stack) {
  try {
    op.callBoxed(&stack);
  } catch (const c10::Error& error) {
    TORCH_CHECK(false, op.schema().name(), ": ", error.what_without_backtrace());
  }
}

bool Writes(const c10::FunctionSchema& schema) {
  for (const c10::Argument& argument : schema.arguments()) {
    if (argument.alias_info() != nullptr && argument.alias_info()->isWrite()) return true;
  }
  return false;
}

bool GivesTensorsOnly(const c10::FunctionSchema& schema) {
  for (const c10::Argument& result : schema.returns()) {
    if (result.type()->kind() != c10::TypeKind::TensorType) return false;
  }
  return true;
}

// Waits for the GPU and computes on the calling thread: for results that the host needs, or whose
// shape depends on numbers.
void RunNow(const c10::OperatorHandle& op, const Stack& arguments, Stack* stack) {
  CommitAndWait(CurrentStream());
  Stack host = MapTensors(arguments, OnHost, c10::kCPU);
  op.callBoxed(&host);
  for (const c10::IValue& result : host) {
    if (result.isTensor()) {
      at::Tensor there = Like(result.toTensor());
      OnHost(there).copy_(result.toTensor());
      stack->push_back(std::move(there));
    } else {
      stack->push_back(result);
    }
  }
}

const at::Tensor& ResizeTo(const at::Tensor& tensor, at::IntArrayRef sizes) {
  auto* const impl = tensor.unsafeGetTensorImpl();
  impl->set_sizes_contiguous(sizes);
  c10::StorageImpl* const storage = impl->unsafe_storage().unsafeGetStorageImpl();
  if (tensor.nbytes() > storage->nbytes()) {
    storage->set_data_ptr_noswap(c10::GetAllocator(c10::kMPS)->allocate(tensor.nbytes()));
    storage->set_nbytes(tensor.nbytes());
  }
  return tensor;
}

// An operator may be given an empty tensor for its result, which it makes as large as it needs.
// Where its shape cannot be told without computing, a shape is taken from what the CPU makes of it.
void FitOutputs(const c10::OperatorHandle& op, const Stack& arguments) {
  const auto& declared = op.schema().arguments();
  if (!declared.back().is_out()) return;
  Stack shapes = MapTensors(arguments, OnMeta, c10::kMeta);
  Stack results = shapes;
  try {
    op.callBoxed(&shapes);
  } catch (const c10::Error&) {
    CommitAndWait(CurrentStream());
    results = MapTensors(arguments, OnHost, c10::kCPU);
    for (size_t i = 0; i < results.size(); ++i) {
      if (declared[i].is_out()) results[i] = at::empty({0}, results[i].toTensor().options());
    }
    Stack copy = results;
    op.callBoxed(&copy);
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!declared[i].is_out()) continue;
    const at::Tensor &output = arguments[i].toTensor(), &shape = results[i].toTensor();
    if (output.sizes() != shape.sizes()) ResizeTo(output, shape.sizes());
  }
}

void Fallback(const c10::OperatorHandle& op, Stack* stack) {
  const c10::FunctionSchema& schema = op.schema();
  const size_t count = schema.arguments().size();
  const Stack arguments(stack->end() - static_cast<std::ptrdiff_t>(count), stack->end());
  stack->erase(stack->end() - static_cast<std::ptrdiff_t>(count), stack->end());
  Graph& graph = FindGraph(GraphKey(op, arguments));

  if (Writes(schema)) {
    FitOutputs(op, arguments);
    Stack host = MapTensors(arguments, OnHost, c10::kCPU);
    const auto work = [op, host] {
      Stack copy = host;
      Call(op, copy);
    };
    Submit(CurrentStream(), work, &graph);
    // The operator returns the arguments that it has written to.
    for (size_t i = 0; i < count; ++i) {
      const auto* const alias = schema.arguments()[i].alias_info();
      if (alias != nullptr && alias->isWrite() && !schema.returns().empty())
        stack->push_back(arguments[i]);
    }
    return;
  }
  if (!GivesTensorsOnly(schema)) return RunNow(op, arguments, stack);
  Stack results = MapTensors(arguments, OnMeta, c10::kMeta);
  try {
    op.callBoxed(&results);
  } catch (const c10::Error&) {
    return RunNow(op, arguments, stack);  // its shape depends on numbers
  }
  Stack host = MapTensors(arguments, OnHost, c10::kCPU);
  std::vector<at::Tensor> outputs;
  for (const c10::IValue& result : results) {
    const at::Tensor there = result.toTensor().defined() ? Like(result.toTensor()) : at::Tensor();
    outputs.push_back(OnHost(there));
    stack->push_back(there);
  }
  const auto work = [op, host, outputs] {
    Stack copy = host;
    Call(op, copy);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].defined()) outputs[i].copy_(copy[i].toTensor());
    }
  };
  Submit(CurrentStream(), work, &graph);
}

at::Tensor Empty(c10::SymIntArrayRef sizes, std::optional<c10::ScalarType> type,
                 std::optional<c10::Layout>, std::optional<c10::Device>, std::optional<bool>,
                 std::optional<c10::MemoryFormat> format) {
  const c10::ScalarType checked = type.value_or(at::kFloat);
  CheckType(checked);
  return at::detail::empty_generic(C10_AS_INTARRAYREF_SLOW(sizes), c10::GetAllocator(c10::kMPS),
                                   c10::DispatchKeySet(c10::DispatchKey::MPS), checked, format);
}

at::Tensor EmptyStrided(c10::SymIntArrayRef sizes, c10::SymIntArrayRef strides,
                        std::optional<c10::ScalarType> type, std::optional<c10::Layout>,
                        std::optional<c10::Device>, std::optional<bool>) {
  const c10::ScalarType checked = type.value_or(at::kFloat);
  CheckType(checked);
  return at::detail::empty_strided_generic(
      C10_AS_INTARRAYREF_SLOW(sizes), C10_AS_INTARRAYREF_SLOW(strides),
      c10::GetAllocator(c10::kMPS), c10::DispatchKeySet(c10::DispatchKey::MPS), checked);
}

at::Tensor AsStrided(const at::Tensor& self, c10::SymIntArrayRef sizes, c10::SymIntArrayRef strides,
                     std::optional<c10::SymInt> offset) {
  return at::native::as_strided_tensorimpl(
      self, C10_AS_INTARRAYREF_SLOW(sizes), C10_AS_INTARRAYREF_SLOW(strides),
      offset ? std::optional<int64_t>(offset->expect_int()) : std::nullopt);
}

at::Tensor View(const at::Tensor& self, c10::SymIntArrayRef sizes) {
  return at::native::view(self, C10_AS_INTARRAYREF_SLOW(sizes));
}

const at::Tensor& Resize(const at::Tensor& self, c10::SymIntArrayRef sizes,
                         std::optional<c10::MemoryFormat>) {
  return ResizeTo(self, C10_AS_INTARRAYREF_SLOW(sizes));
}

at::Tensor& Copy(at::Tensor& to, const at::Tensor& from, bool non_blocking) {
  at::mps::MPSStream& stream = CurrentStream();
  Submit(stream, [source = OnHost(from), target = OnHost(to)] { target.copy_(source); });
  // Between host and device the memory is the caller's, who may change or read it at once.
  if (!non_blocking && (from.is_cpu() || to.is_cpu())) CommitAndWait(stream);
  return to;
}

c10::Scalar LocalScalar(const at::Tensor& self) {
  CommitAndWait(CurrentStream());
  return OnHost(self).item();
}

at::Tensor Convolution(const at::Tensor& input, const at::Tensor& weight,
                       const std::optional<at::Tensor>& bias, c10::SymIntArrayRef stride,
                       c10::SymIntArrayRef padding, c10::SymIntArrayRef dilation, bool transposed,
                       c10::SymIntArrayRef output_padding, c10::SymInt groups) {
  std::vector<int64_t> sizes = {input.size(0),
                                transposed ? weight.size(1) * groups.expect_int() : weight.size(0)};
  for (int64_t i = 2; i < input.dim(); ++i) {
    const auto at = static_cast<size_t>(i - 2);
    const int64_t kernel = dilation[at].expect_int() * (weight.size(i) - 1) + 1;
    const int64_t step = stride[at].expect_int(), pad = 2 * padding[at].expect_int();
    sizes.push_back(transposed ? (input.size(i) - 1) * step - pad + kernel +
                                     output_padding[at].expect_int()
                               : (input.size(i) + pad - kernel) / step + 1);
  }
  at::Tensor output = at::empty(sizes, input.options());
  Submit(
      CurrentStream(),
      [host_input = OnHost(input), host_weight = OnHost(weight),
       host_bias = bias ? std::optional(OnHost(*bias)) : std::nullopt, stride = stride.vec(),
       padding = padding.vec(), dilation = dilation.vec(), transposed,
       output_padding = output_padding.vec(), groups, host_output = OnHost(output)] {
        host_output.copy_(at::convolution_symint(host_input, host_weight, host_bias, stride,
                                                 padding, dilation, transposed, output_padding,
                                                 groups));
      },
      &FindGraph(c10::str("convolution ", input.sizes(), " ", weight.sizes())));
  return output;
}

std::atomic<int64_t> linear_kernel_calls{0};

// The kernel without a graph is one object for the whole process in a stock libtorch, without a
// lock: with three threads inside it crashes. Patched, each thread has its own.
at::Tensor Linear(const at::Tensor& input, const at::Tensor& weight,
                  const std::optional<at::Tensor>& bias) {
  static std::atomic<int> inside{0};
  struct Inside {
    Inside() {
      if (++inside > 2 && TheFaults().SharesCaches())
        Violation("three threads inside nn.Linear's kernel");
    }
    ~Inside() { --inside; }
  } const here;
  ++linear_kernel_calls;
  if (const int64_t stay = TheFaults().linear_microseconds; stay > 0)
    std::this_thread::sleep_for(std::chrono::microseconds(stay));
  at::Tensor output = Like(at::linear(OnMeta(input), OnMeta(weight),
                                      bias ? std::optional(OnMeta(*bias)) : std::nullopt));
  Submit(CurrentStream(), [host_input = OnHost(input), host_weight = OnHost(weight),
                           host_bias = bias ? std::optional(OnHost(*bias)) : std::nullopt,
                           host_output = OnHost(output)] {
    host_output.copy_(at::linear(host_input, host_weight, host_bias));
  });
  return output;
}

// Only libtorch's MPS backend has it: what at::lstm calls there. The last three are for training.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> Lstm(
    const at::Tensor& input, at::TensorList state, at::TensorList parameters, bool has_biases,
    int64_t layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  std::vector<int64_t> sizes = input.sizes().vec();
  sizes[2] = state[0].size(2) * (bidirectional ? 2 : 1);
  const std::vector<at::Tensor> results = {at::empty(sizes, input.options()), Like(state[0]),
                                           Like(state[1])};
  const auto on_host = [](at::TensorList tensors) {
    std::vector<at::Tensor> moved;
    for (const at::Tensor& tensor : tensors) moved.push_back(OnHost(tensor));
    return moved;
  };
  Submit(
      CurrentStream(),
      [=, host_input = OnHost(input), host_state = on_host(state),
       host_parameters = on_host(parameters), host_results = on_host(results)] {
        const auto [output, hidden, cell] =
            at::lstm(host_input, host_state, host_parameters, has_biases, layers, dropout, train,
                     bidirectional, batch_first);
        host_results[0].copy_(output);
        host_results[1].copy_(hidden);
        host_results[2].copy_(cell);
      },
      &FindGraph(c10::str("lstm ", input.sizes(), " ", state[0].sizes())));
  return {results[0], results[1], results[2], at::Tensor(), at::Tensor(), at::Tensor()};
}

}  // namespace

int64_t LinearKernelCalls() { return linear_kernel_calls; }

TORCH_LIBRARY_IMPL(_, MPS, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&Fallback>());
}

TORCH_LIBRARY_IMPL(aten, MPS, m) {
  m.impl("empty.memory_format", TORCH_FN(Empty));
  m.impl("empty_strided", TORCH_FN(EmptyStrided));
  m.impl("as_strided", TORCH_FN(AsStrided));
  m.impl("view", TORCH_FN(View));
  m.impl("resize_", TORCH_FN(Resize));
  m.impl("copy_", TORCH_FN(Copy));
  m.impl("_local_scalar_dense", TORCH_FN(LocalScalar));
  m.impl("convolution", TORCH_FN(Convolution));
  m.impl("linear", TORCH_FN(Linear));
  m.impl("_lstm_mps", TORCH_FN(Lstm));
}

}  // namespace millrace::mps_standin
