// Test 6, real models in parallel: a speech and a translation model at once. They have the shape of
// the real ones (convolutions with upsampling; attention with a greedy loop) and made-up weights,
// so that the test needs no files.
#include <ATen/TensorOperators.h>
#include <torch/csrc/jit/api/module.h>

#include <atomic>
#include <vector>

#include "mps_runtime/probe/run_workers.h"
#include "mps_runtime/probe/tensors.h"
#include "mps_runtime/selftest/conformance.h"

namespace millrace::runtime {
namespace {

constexpr int kSymbols = 128;

torch::jit::Module SpeechModel(at::Device device) {
  torch::jit::Module model("speech");
  model.register_buffer("table", Numbers({kSymbols, 64}, device, 1));
  model.register_buffer("wide", Numbers({96, 64, 5}, device, 2) * 0.1);
  model.register_buffer("up", Numbers({96, 32, 16}, device, 3) * 0.1);
  model.register_buffer("out", Numbers({1, 32, 7}, device, 4) * 0.1);
  model.define(R"(
    def forward(self, symbols):
        x = torch.embedding(self.table, symbols).transpose(1, 2)
        x = torch.tanh(torch.conv1d(x, self.wide, None, [1], [2]))
        x = torch.tanh(torch.conv_transpose1d(x, self.up, None, [8], [4]))
        return torch.tanh(torch.conv1d(x, self.out, None, [1], [3])).flatten()
  )");
  model.eval();
  return model;
}

torch::jit::Module TranslationModel(at::Device device) {
  torch::jit::Module model("translation");
  model.register_buffer("table", Numbers({kSymbols, 64}, device, 5));
  model.register_buffer("query", Numbers({64, 64}, device, 6) * 0.2);
  model.register_buffer("gate", Numbers({64, 128}, device, 7) * 0.2);
  // A greedy loop whose state depends on every step before.
  model.define(R"(
    def forward(self, symbols):
        source = torch.embedding(self.table, symbols).squeeze(0)
        state = source.mean(0, True)
        words = []
        for i in range(12):
            weights = torch.softmax(torch.matmul(torch.matmul(state, self.query), source.t()), 1)
            both = torch.cat([state, torch.matmul(weights, source)], 1)
            state = torch.tanh(torch.matmul(both, self.gate.t()))
            word = torch.argmax(torch.matmul(state, self.table.t()), 1)
            state = state + torch.embedding(self.table, word)
            words.append(word * 1.0)
        return torch.cat([torch.cat(words), state.flatten()])
  )");
  model.eval();
  return model;
}

at::Tensor Sentence(int length, at::Device device) {
  const at::Tensor numbers = (Numbers({1, length}, at::kCPU, length) + 1) * (kSymbols / 2 - 1);
  return numbers.to(at::kLong).to(device);
}

constexpr int kLengths[] = {3, 17, 40, 90};

at::Tensor RunForward(torch::jit::Module& model, int length, at::Device device, Runtime& runtime,
                      WorkerContext& context) {
  const ForwardScope scope(runtime, context);
  const at::Tensor output = model.forward({Sentence(length, device)}).toTensor();
  context.Synchronize();
  return output.to(at::kCPU);
}

}  // namespace

void TestSpeechAndTranslationAtOnce(const SelftestSetup& setup, Findings& findings) {
  constexpr int kThreads = 4;  // two for each model
  constexpr int kRounds = 40;
  constexpr int kWarmUps = 3;  // TorchScript profiles the first runs and compiles from what it saw
  const auto runtime = Runtime::Bootstrap(SelftestRuntime(setup, kThreads));
  const at::Device device = TensorDevice(runtime->device());
  std::vector<torch::jit::Module> models = {SpeechModel(device), TranslationModel(device)};

  std::vector<std::vector<at::Tensor>> expected(models.size());
  {
    const auto context = runtime->EnterMainThread();
    for (size_t m = 0; m < models.size(); ++m) {
      for (const int length : kLengths) {
        at::Tensor output;
        for (int i = 0; i < kWarmUps; ++i) {
          output = RunForward(models[m], length, device, *runtime, *context);
        }
        expected[m].push_back(output);
      }
    }
  }

  std::atomic<int> wrong{0};
  const double seconds = RunWorkers(*runtime, kThreads, [&](int thread, auto& context) {
    const size_t m = thread % models.size();
    for (int round = 0; round < kRounds; ++round) {
      const size_t which = (round + thread) % std::size(kLengths);
      const at::Tensor actual = RunForward(models[m], kLengths[which], device, *runtime, context);
      if (!SameNumbers(expected[m][which], actual, runtime->device())) ++wrong;
    }
  });
  findings.AddFigure("forwards", kThreads * kRounds);
  findings.AddFigure("forwards_per_s", kThreads * kRounds / seconds);
  findings.AddFigure("wrong", wrong);
  findings.AddFigure("peak_in_flight", runtime->limiter().peak_in_use());
  findings.ExpectEqual("outputs that differ from those of one thread", 0, wrong.load());
}

}  // namespace millrace::runtime
