// TorchScript modules on the stand-in for Apple's GPU.
#include <ATen/ops/arange.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>

#include <atomic>
#include <barrier>
#include <cmath>
#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "models/torchscript/torchscript_model.h"
#include "mps_runtime/base/joining_thread.h"
#include "mps_runtime/errors.h"
#include "mps_runtime/runtime.h"
#include "tests/fakes/mps/faults.h"
#include "tests/fakes/mps/operators.h"
#include "tests/fakes/temporary_folder.h"

namespace millrace::torchscript {
namespace {

constexpr int64_t kWidth = 16;
constexpr size_t kMaxBatch = 6;

class Collector final : public models::OutputSink {
 public:
  void Emit(models::Output output) override {
    const std::string& data = std::get<models::InferOutput>(output).outputs.at(0).data;
    values.resize(data.size() / sizeof(float));
    std::memcpy(values.data(), data.data(), data.size());
  }

  std::vector<float> values;
};

models::InferInput Rows(int64_t rows, float first) {
  std::vector<float> values;
  for (int64_t i = 0; i < rows * kWidth; ++i)
    values.push_back(first + 0.1F * static_cast<float>(i % kWidth));
  models::InferInput input;
  input.inputs.push_back(
      {"x",
       models::DataType::kFp32,
       {rows, kWidth},
       std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float))});
  return input;
}

class TorchScriptOnMpsTest : public ::testing::Test {
 protected:
  TorchScriptOnMpsTest() { Save("x[0]"); }

  // A module of three layers with this bias.
  void Save(const std::string& bias) const {
    torch::jit::Module module("__torch__.Tiny");
    module.register_parameter(
        "weight", at::arange(kWidth * kWidth, at::kFloat).sin().view({kWidth, kWidth}), false);
    module.define(
        "def forward(self, x):\n"
        "  for i in range(3):\n"
        "    x = torch.tanh(torch.linear(x, self.weight, " +
        bias +
        "))\n"
        "  return x\n");
    module.save(file_.string());
  }

  // -1 rows: as many as come.
  std::unique_ptr<models::Model> Load(runtime::DeviceType device, int64_t rows = 1,
                                      const TorchScriptOptions& options = {}) const {
    auto model = TryLoad(device, rows, options);
    EXPECT_TRUE(model.ok()) << model.status();
    return *std::move(model);
  }
  absl::StatusOr<std::unique_ptr<models::Model>> TryLoad(runtime::DeviceType device, int64_t rows,
                                                         TorchScriptOptions options) const {
    models::ModelInfo info;
    info.name = "tiny";
    info.version = 3;
    info.infer().inputs = {{"x", models::DataType::kFp32, {rows, kWidth}}};
    info.infer().outputs = {{"y", models::DataType::kFp32, {rows, kWidth}}};
    info.batching.max_batch = kMaxBatch;
    options.file = file_;
    options.device = device;
    return LoadTorchScript(options, info);
  }

  static std::vector<float> Run(const models::Model& model, runtime::Runtime& runtime,
                                runtime::WorkerContext& context, float first, int64_t rows = 1) {
    Collector sink;
    models::Request request(Rows(rows, first), TimePoint::max(), sink);
    models::Request* const requests[] = {&request};
    const auto batch = model.Prepare(requests);
    {
      const runtime::ForwardScope scope(runtime, context);
      batch->Forward(context);
    }
    batch->Complete();
    return sink.values;
  }

  const testing::TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "model.pt";
};

// With the patch, threads encode at once. Without it, nn.Linear's kernel would be one for all.
TEST_F(TorchScriptOnMpsTest, ManyThreadsGiveTheNumbersOfTheCpuWithoutTheKernelOfLinear) {
  constexpr int kThreads = 8;
  std::vector<std::vector<float>> expected;
  {
    runtime::RuntimeOptions options;
    options.device = runtime::DeviceType::kCpu;
    const auto runtime = runtime::Runtime::Bootstrap(options);
    const auto context = runtime->EnterMainThread();
    const auto model = Load(runtime::DeviceType::kCpu);
    for (int i = 0; i < kThreads; ++i)
      expected.push_back(Run(*model, *runtime, *context, 0.01F * static_cast<float>(i)));
  }
  runtime::RuntimeOptions options;
  options.device = runtime::DeviceType::kMps;
  options.workers = kThreads;
  mps_standin::TheFaults().patch_level = 1;
  options.max_in_flight = kThreads;
  options.accept_unsafe_concurrency = true;
  const auto runtime = runtime::Runtime::Bootstrap(options);
  std::unique_ptr<models::Model> model;
  {
    const auto context = runtime->EnterMainThread();
    model = Load(runtime::DeviceType::kMps);
    Run(*model, *runtime, *context, 0);
  }
  const int64_t calls_before = mps_standin::LinearKernelCalls();
  std::barrier start(kThreads);
  std::atomic<int> wrong{0};
  std::vector<JoiningThread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const auto context = runtime->EnterWorker();
      start.arrive_and_wait();
      for (int round = 0; round < 10; ++round) {
        const auto values = Run(*model, *runtime, *context, 0.01F * static_cast<float>(i));
        for (size_t k = 0; k < values.size(); ++k) {
          if (std::abs(values[k] - expected[static_cast<size_t>(i)][k]) > 1e-4F) ++wrong;
        }
        if (values.size() != kWidth) ++wrong;
      }
    });
  }
  threads.clear();
  mps_standin::TheFaults().patch_level = 0;
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(mps_standin::LinearKernelCalls(), calls_before);
}

std::string Refusal(const std::function<void()>& run) {
  try {
    run();
  } catch (const runtime::ShapeRefused& refusal) {
    return refusal.what();
  }
  return "";
}

// Each shape that libtorch compiles there stays until the process ends.
TEST_F(TorchScriptOnMpsTest, ShapesBeyondTheLimitAreRefusedAndKnownOnesAreServed) {
  runtime::RuntimeOptions options;
  options.device = runtime::DeviceType::kMps;
  options.workers = 2;
  options.max_compiled_shapes = 3;
  const auto runtime = runtime::Runtime::Bootstrap(options);
  std::unique_ptr<models::Model> model;
  {
    const auto context = runtime->EnterMainThread();
    model = Load(runtime::DeviceType::kMps, /*rows=*/-1);
    Run(*model, *runtime, *context, 0);  // counts too
  }
  std::vector<float> first;
  JoiningThread([&] {
    const auto context = runtime->EnterWorker();
    first = Run(*model, *runtime, *context, 1, /*rows=*/2);
    Run(*model, *runtime, *context, 1, /*rows=*/3);
    EXPECT_EQ(Refusal([&] { Run(*model, *runtime, *context, 1, /*rows=*/4); }),
              "model 'tiny/3': inputs of shape [4, 16] are new to forward and the device has "
              "compiled 3 shapes, as many as graph_cache_entries allows; allowed are [1, 16] or "
              "[2, 16] or [3, 16]");
    for (const int64_t rows : {1, 2, 3})
      EXPECT_EQ(Run(*model, *runtime, *context, 1, rows).size(), rows * kWidth);
    EXPECT_EQ(Run(*model, *runtime, *context, 1, /*rows=*/2), first);
  }).join();
  // A shape that one worker has compiled may run on another; a new one may not.
  JoiningThread([&] {
    const auto context = runtime->EnterWorker();
    EXPECT_NE(Refusal([&] { Run(*model, *runtime, *context, 1, /*rows=*/5); }), "");
    EXPECT_EQ(Run(*model, *runtime, *context, 1, /*rows=*/2), first);
  }).join();
  EXPECT_EQ(runtime->shape_stats().compiled, 3U);
  EXPECT_EQ(runtime->shape_stats().refused_limit, 2U);
}

TEST_F(TorchScriptOnMpsTest, FrozenServesWarmShapesAndThoseOfAModelThatIsLoadedLater) {
  runtime::RuntimeOptions options;
  options.device = runtime::DeviceType::kMps;
  options.graph_cache_policy = runtime::GraphCachePolicy::kFrozen;
  options.new_shape = runtime::NewShape::kRefuse;
  const auto runtime = runtime::Runtime::Bootstrap(options);
  runtime->FinishWarmUp();
  const auto main = runtime->EnterMainThread();
  const auto model = Load(runtime::DeviceType::kMps, /*rows=*/-1);
  Run(*model, *runtime, *main, 0);
  JoiningThread([&] {
    const auto context = runtime->EnterWorker();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(Run(*model, *runtime, *context, 1).size(), kWidth);
    EXPECT_NE(Refusal([&] { Run(*model, *runtime, *context, 1, /*rows=*/2); }), "");
    EXPECT_EQ(Run(*model, *runtime, *context, 1).size(), kWidth);
  }).join();
  EXPECT_EQ(runtime->shape_stats().refused_frozen, 1U);
}

TEST_F(TorchScriptOnMpsTest, StackedBatchesOfAnySizeHaveTheFewShapesOfTheWarmUp) {
  runtime::RuntimeOptions options;
  options.device = runtime::DeviceType::kMps;
  const auto runtime = runtime::Runtime::Bootstrap(options);
  const auto context = runtime->EnterMainThread();
  Save("self.weight[0]");  // one request's numbers would be others for a batch
  const auto single = Load(runtime::DeviceType::kMps);
  const auto model =
      Load(runtime::DeviceType::kMps, 1, {.stack = true, .shapes = models::ShapePolicy::kFew});
  EXPECT_EQ(model->WarmupBatches(), (std::vector<size_t>{1, 2, 4, 6}));
  std::vector<std::vector<float>> expected;
  for (size_t i = 0; i < kMaxBatch; ++i)
    expected.push_back(Run(*single, *runtime, *context, 0.1F * static_cast<float>(i)));
  const size_t before = runtime->shape_stats().compiled;
  for (size_t size = 1; size <= kMaxBatch; ++size) {
    std::vector<Collector> sinks(size);
    std::deque<models::Request> owned;
    std::vector<models::Request*> requests;
    for (size_t i = 0; i < size; ++i) {
      requests.push_back(
          &owned.emplace_back(Rows(1, 0.1F * static_cast<float>(i)), TimePoint::max(), sinks[i]));
    }
    const auto batch = model->Prepare(requests);
    {
      const runtime::ForwardScope scope(*runtime, *context);
      batch->Forward(*context);
    }
    batch->Complete();
    for (size_t i = 0; i < size; ++i) {
      ASSERT_EQ(sinks[i].values.size(), kWidth) << size;
      for (size_t k = 0; k < kWidth; ++k)
        EXPECT_NEAR(sinks[i].values[k], expected[i][k], 1e-5) << size << " " << i << " " << k;
    }
  }
  EXPECT_EQ(runtime->shape_stats().compiled - before, 4U);
}

TEST_F(TorchScriptOnMpsTest, LinearIsCheckedWithInputsThatTheModelTakes) {
  Save("x[4]");  // needs five rows
  EXPECT_TRUE(TryLoad(runtime::DeviceType::kMps, -1, {.warmup_sizes = {5, 6}}).ok());
  const absl::Status refused = TryLoad(runtime::DeviceType::kMps, -1, {}).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("warmup_sizes"), refused.message().npos) << refused;
  Save("x.permute(0, 2, 1)[0, :, 0]");  // needs the dimension of the batch
  EXPECT_TRUE(TryLoad(runtime::DeviceType::kMps, 1, {.stack = true}).ok());
}

TEST_F(TorchScriptOnMpsTest, WarmUpRunsTheSizesThatTheModelNames) {
  const auto rows = [](const models::Model& model) {
    std::vector<int64_t> sizes;
    for (const models::Input& input : model.WarmupInputs()) {
      const models::Tensor& tensor = std::get<models::InferInput>(input).inputs.at(0);
      EXPECT_EQ(tensor.data.size(), tensor.shape[0] * kWidth * sizeof(float));
      sizes.push_back(tensor.shape[0]);
    }
    return sizes;
  };
  EXPECT_EQ(rows(*Load(runtime::DeviceType::kCpu, -1, {.warmup_sizes = {2, 5}})),
            (std::vector<int64_t>{2, 2, 2, 5, 5, 5}));
  EXPECT_EQ(rows(*Load(runtime::DeviceType::kCpu, -1)), (std::vector<int64_t>{1, 1, 1}));
}

}  // namespace
}  // namespace millrace::torchscript
