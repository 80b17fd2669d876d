#include "models/probe/model_probe.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "models/core/strings.h"
#include "models/probe/same_output.h"
#include "models/repository/model_factory.h"
#include "models/repository/model_repository.h"
#include "mps_runtime/probe/run_workers.h"
#include "mps_runtime/runtime.h"

namespace millrace::models {
namespace {

constexpr char kFlag[] = "--model-probe";
constexpr char kAnyDevice[] = "auto";
constexpr int kArguments = 8;
// TorchScript's executor compiles from what it observes in the first runs.
constexpr int kWarmUps = 3;

class KeptOutputs final : public OutputSink {
 public:
  void Emit(Output output) override { outputs.push_back(std::move(output)); }

  std::vector<Output> outputs;
};

// Runs steps until the request is finished, as a worker of the server does.
std::vector<Output> Answer(const Model& model, const Input& input, runtime::Runtime& runtime,
                           runtime::WorkerContext& context) {
  KeptOutputs sink;
  Request request(input, TimePoint::max(), sink);
  Request* requests[] = {&request};
  while (!request.outcome()) {
    const std::unique_ptr<Batch> step = model.Prepare(requests);
    if (step == nullptr) break;
    {
      const runtime::ForwardScope scope(runtime, context);
      step->Forward(context);
    }
    step->Complete();
  }
  if (!request.outcome() || !request.outcome()->ok()) {
    throw std::runtime_error(request.outcome() ? std::string(Message(*request.outcome()))
                                               : "a request was left without an answer");
  }
  return std::move(sink.outputs);
}

template <typename T>
void FillWith(std::string& data, int seed) {
  for (size_t at = 0; at + sizeof(T) <= data.size(); at += sizeof(T)) {
    const auto value =
        static_cast<T>(std::sin(static_cast<float>(at) * 12.9898F + static_cast<float>(seed)));
    std::memcpy(&data[at], &value, sizeof(T));
  }
}

// Zeros could be right by accident, so floats get numbers that look irregular. Integers may be
// indices and stay.
void FillFloats(Input& input, int seed) {
  auto* const infer = std::get_if<InferInput>(&input);
  if (infer == nullptr) return;
  for (Tensor& tensor : infer->inputs) {
    if (tensor.type == DataType::kFp16) FillWith<c10::Half>(tensor.data, seed);
    if (tensor.type == DataType::kBf16) FillWith<c10::BFloat16>(tensor.data, seed);
    if (tensor.type == DataType::kFp32) FillWith<float>(tensor.data, seed);
    if (tensor.type == DataType::kFp64) FillWith<double>(tensor.data, seed);
  }
}

std::vector<Input> InputsOf(const Model& model) {
  std::vector<Input> inputs = model.WarmupInputs();
  for (size_t i = 0; i < inputs.size(); ++i) FillFloats(inputs[i], static_cast<int>(i));
  return inputs;
}

}  // namespace

bool RunModelHere(const ModelProbe& probe) {
  runtime::RuntimeOptions options;
  options.device = probe.device;
  options.workers = probe.threads;
  options.max_in_flight = probe.threads;
  options.accept_unsafe_concurrency = true;
  options.intra_op_threads = 1;
  const auto runtime = runtime::Runtime::Bootstrap(options);
  const ModelRepository repository(probe.repository,
                                   MakeModelFactory(runtime->device(), ShapePolicy::kPadded));
  std::unique_ptr<Model> model;
  std::vector<Input> inputs;
  std::vector<std::vector<Output>> expected;
  {
    const auto context = runtime->EnterMainThread();
    auto loaded = repository.Load(probe.name, probe.version);
    if (!loaded.ok()) throw std::runtime_error(std::string(Message(loaded.status())));
    model = *std::move(loaded);
    context->Synchronize();
    inputs = probe.inputs.empty() ? InputsOf(*model) : probe.inputs;
    for (const Input& input : inputs) {
      std::vector<Output> answer;
      for (int i = 0; i < kWarmUps; ++i) answer = Answer(*model, input, *runtime, *context);
      expected.push_back(std::move(answer));
    }
  }
  std::atomic<bool> wrong{false};
  runtime::RunWorkers(*runtime, probe.threads, [&](int thread, runtime::WorkerContext& context) {
    for (size_t i = 0; i < inputs.size() * static_cast<size_t>(probe.rounds); ++i) {
      const size_t which = (i + static_cast<size_t>(thread)) % inputs.size();
      const auto answer = Answer(*model, inputs[which], *runtime, context);
      if (!SameOutputs(expected[which], answer, runtime->device())) wrong = true;
    }
  });
  return !wrong;
}

runtime::ChildResult RunModelInChild(const ModelProbe& probe,
                                     const runtime::ChildOptions& options) {
  return runtime::RunChild(
      {kFlag, probe.repository.string(), probe.name, std::to_string(probe.version),
       std::to_string(probe.threads), std::to_string(probe.rounds),
       std::string(probe.device ? runtime::ToString(*probe.device) : kAnyDevice)},
      options);
}

std::optional<int> ModelProbeMain(int argc, char** argv) {
  if (argc != kArguments || std::string_view(argv[1]) != kFlag) return std::nullopt;
  runtime::EndWithParent();
  try {
    return RunModelHere({.repository = argv[2],
                         .name = argv[3],
                         .version = std::atoll(argv[4]),
                         .threads = std::atoi(argv[5]),
                         .rounds = std::atoi(argv[6]),
                         .device = runtime::ParseDeviceType(argv[7])})
               ? 0
               : runtime::kChildWrong;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s on %s threads: %s\n", argv[3], argv[5], failure.what());
    return runtime::kChildError;
  }
}

}  // namespace millrace::models
