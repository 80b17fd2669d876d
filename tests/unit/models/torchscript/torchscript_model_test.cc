#include "models/torchscript/torchscript_model.h"

#include <ATen/ops/full.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <vector>

#include "tests/fakes/run_model.h"

namespace millrace::torchscript {
namespace {

class Collector final : public models::OutputSink {
 public:
  void Emit(models::Output output) override {
    parts.push_back(std::get<models::InferOutput>(std::move(output)));
  }

  // The only output tensor.
  std::vector<float> Values(size_t index = 0) const {
    const std::string& data = parts.at(0).outputs.at(index).data;
    std::vector<float> values(data.size() / sizeof(float));
    std::memcpy(values.data(), data.data(), data.size());
    return values;
  }

  std::vector<models::InferOutput> parts;
};

models::InferInput Row(const std::vector<float>& values) {
  const auto* bytes = reinterpret_cast<const char*>(values.data());
  models::InferInput input;
  input.inputs.push_back({"x",
                          models::DataType::kFp32,
                          {static_cast<int64_t>(values.size())},
                          std::string(bytes, values.size() * sizeof(float))});
  return input;
}

class TorchScriptModelTest : public ::testing::Test {
 protected:
  TorchScriptModelTest() {
    info_.name = "tiny";
    info_.infer().inputs = {{"x", models::DataType::kFp32, {2}}};
    info_.infer().outputs = {{"y", models::DataType::kFp32, {2}}};
  }
  ~TorchScriptModelTest() override { std::filesystem::remove(options_.file); }

  // Saves a module of this forward, and loads it as the server does.
  absl::StatusOr<std::unique_ptr<models::Model>> TryLoad(
      const std::string& forward,
      const std::function<void(torch::jit::Module&)>& add = [](torch::jit::Module&) {}) {
    torch::jit::Module module("__torch__.Tiny");
    add(module);
    module.define("def forward(self, x):\n  " + forward + "\n");
    module.save(options_.file.string());
    return LoadTorchScript(options_, info_);
  }
  std::unique_ptr<models::Model> Load(const std::string& forward) {
    auto model = TryLoad(forward);
    EXPECT_TRUE(model.ok()) << model.status();
    return *std::move(model);
  }

  // Returns the message of what a step throws; "nothing" if it does not.
  static std::string Failure(const models::Model& model,
                             const std::vector<models::InferInput>& inputs) {
    std::vector<Collector> sinks(inputs.size());
    std::vector<std::unique_ptr<models::Request>> owned;
    std::vector<models::Request*> requests;
    for (size_t i = 0; i < inputs.size(); ++i) {
      owned.push_back(std::make_unique<models::Request>(inputs[i], TimePoint::max(), sinks[i]));
      requests.push_back(owned.back().get());
    }
    try {
      testing::RunStep(model, requests);
    } catch (const std::exception& error) {
      for (const Collector& sink : sinks) EXPECT_TRUE(sink.parts.empty());
      return error.what();
    }
    return "nothing";
  }

  TorchScriptOptions options_{.file = std::filesystem::path(::testing::TempDir()) /
                                      ("tiny-" + std::to_string(getpid()) + ".pt")};
  models::ModelInfo info_;
};

TEST_F(TorchScriptModelTest, RunsEachRequestOfABatch) {
  for (const bool stack : {false, true}) {
    options_.stack = stack;
    const auto model = Load("return x + 1");
    Collector sink_1;
    Collector sink_2;
    models::Request request_1(Row({1, 2}), TimePoint::max(), sink_1);
    models::Request request_2(Row({3, 4}), TimePoint::max(), sink_2);
    testing::RunStep(*model, {&request_1, &request_2});
    EXPECT_EQ(sink_1.Values(), (std::vector<float>{2, 3}));
    EXPECT_EQ(sink_2.Values(), (std::vector<float>{4, 5}));
    const models::Tensor& output = sink_2.parts[0].outputs[0];
    EXPECT_EQ(output.name, "y");
    EXPECT_EQ(output.shape, std::vector<int64_t>{2});
    ASSERT_TRUE(request_1.outcome() && request_2.outcome());
    EXPECT_TRUE(request_1.outcome()->ok() && request_2.outcome()->ok());
  }
}

TEST_F(TorchScriptModelTest, AStackIsOneForward) {
  options_.stack = true;
  const auto model = Load("return x * 0 + x.size(0)");
  Collector sink_1;
  Collector sink_2;
  models::Request request_1(Row({1, 2}), TimePoint::max(), sink_1);
  models::Request request_2(Row({3, 4}), TimePoint::max(), sink_2);
  testing::RunStep(*model, {&request_1, &request_2});
  EXPECT_EQ(sink_1.Values(), (std::vector<float>{2, 2}));
  EXPECT_EQ(sink_2.Values(), (std::vector<float>{2, 2}));
}

TEST_F(TorchScriptModelTest, WithoutAStackARequestThatIsToStopIsNotRun) {
  const auto model = Load("return x + 1");
  Collector stopped_sink;
  Collector sink;
  models::Request stopped(Row({1, 2}), TimePoint::max(), stopped_sink);
  models::Request request(Row({3, 4}), TimePoint::max(), sink);
  stopped_sink.Cancel();
  testing::RunStep(*model, {&stopped, &request});
  EXPECT_TRUE(stopped_sink.parts.empty());
  EXPECT_FALSE(stopped.outcome());
  EXPECT_EQ(sink.Values(), (std::vector<float>{4, 5}));
}

TEST_F(TorchScriptModelTest, AttributesThatAreOnlyReadKeepTheirValues) {
  const auto model = TryLoad("return x * self.scale + self.shift", [](torch::jit::Module& module) {
    module.register_buffer("scale", at::full({2}, 3.0));
    module.register_parameter("shift", at::full({2}, 0.5), false);
  });
  ASSERT_TRUE(model.ok()) << model.status();
  Collector sink;
  models::Request request(Row({1, 2}), TimePoint::max(), sink);
  testing::RunStep(**model, {&request});
  EXPECT_EQ(sink.Values(), (std::vector<float>{3.5, 6.5}));
}

TEST_F(TorchScriptModelTest, SeveralOutputsAndThoseThatWereAskedFor) {
  info_.infer().outputs.push_back({"z", models::DataType::kFp32, {2}});
  const auto model = Load("return x + 1, x * 2");
  Collector all;
  models::Request everything(Row({3, 4}), TimePoint::max(), all);
  testing::RunStep(*model, {&everything});
  EXPECT_EQ(all.Values(0), (std::vector<float>{4, 5}));
  EXPECT_EQ(all.Values(1), (std::vector<float>{6, 8}));

  models::InferInput input = Row({3, 4});
  input.requested_outputs = {"z"};
  Collector some;
  models::Request one(input, TimePoint::max(), some);
  testing::RunStep(*model, {&one});
  ASSERT_EQ(some.parts.at(0).outputs.size(), 1U);
  EXPECT_EQ(some.Values(), (std::vector<float>{6, 8}));
}

TEST_F(TorchScriptModelTest, AnotherNumberOfOutputsIsAFailure) {
  EXPECT_EQ(Failure(*Load("return x, x"), {Row({1, 2})}),
            "forward returned 2 tensors; model.pbtxt names 1 outputs");
  info_.infer().outputs.push_back({"z", models::DataType::kFp32, {2}});
  EXPECT_EQ(Failure(*Load("return x + 1"), {Row({1, 2})}),
            "forward returned 1 tensors; model.pbtxt names 2 outputs");
}

TEST_F(TorchScriptModelTest, WhatIsNoTensorOrOfAnotherTypeIsAFailure) {
  EXPECT_EQ(Failure(*Load("return 1"), {Row({1, 2})}),
            "forward returned neither a tensor nor a tuple of tensors");
  EXPECT_EQ(Failure(*Load("return x.long()"), {Row({1, 2})}),
            "output 'y' has another type than its model.pbtxt says");
}

TEST_F(TorchScriptModelTest, AStackThatLosesTheBatchIsAFailure) {
  options_.stack = true;
  EXPECT_NE(Failure(*Load("return x.sum()"), {Row({1, 2})}).find("lost the batch dimension"),
            std::string::npos);
}

TEST_F(TorchScriptModelTest, InputsOfAnotherShapeAreAFailure) {
  options_.stack = true;
  const auto model = Load("return x + 1");
  EXPECT_EQ(Failure(*model, {Row({1, 2}), Row({1, 2, 3})}),
            "input 'x' has not the shape and size of its batch");
  models::InferInput longer = Row({1, 2, 3});
  longer.inputs[0].shape = {2};
  EXPECT_EQ(Failure(*model, {longer}), "input 'x' has not the shape and size of its batch");
  models::InferInput other = Row({1, 2});
  other.inputs[0].name = "w";
  EXPECT_EQ(Failure(*model, {other}), "input 'x' is missing");
}

TEST_F(TorchScriptModelTest, AForwardThatFailsThrows) {
  EXPECT_NE(Failure(*Load("return x.view(7)"), {Row({1, 2})}), "nothing");
}

TEST_F(TorchScriptModelTest, WarmupInputsAreValidAndRun) {
  info_.infer().inputs[0].shape = {-1};
  const auto model = Load("return x + 1");
  EXPECT_EQ(model->info().platform, "torchscript");
  for (const models::Input& input : model->WarmupInputs()) {
    EXPECT_TRUE(model->Validate(input).ok());
    EXPECT_EQ(Failure(*model, {std::get<models::InferInput>(input)}), "nothing");
  }
  EXPECT_EQ(model->Validate(models::InferInput{}).message(),
            "inputs: has 0 tensors; model 'tiny' takes 1");
}

TEST_F(TorchScriptModelTest, LargeInputsAreWarmedUpOnce) {
  info_.infer().inputs[0].shape = {1000};
  EXPECT_EQ(Load("return x + 1")->WarmupInputs().size(), 3U);
  info_.infer().inputs[0].shape = {5 << 20};
  EXPECT_EQ(Load("return x + 1")->WarmupInputs().size(), 1U);
}

TEST_F(TorchScriptModelTest, AnotherNumberOfInputsIsRefused) {
  info_.infer().inputs.push_back({"w", models::DataType::kFp32, {2}});
  const auto model = TryLoad("return x + 1");
  EXPECT_EQ(model.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(model.status().message().find("forward takes 1 inputs; model.pbtxt names 2"),
            std::string::npos)
      << model.status();
}

TEST_F(TorchScriptModelTest, ADamagedOrMissingFileIsNamed) {
  ASSERT_TRUE(TryLoad("return x + 1").ok());
  const auto size = std::filesystem::file_size(options_.file);
  for (const uintmax_t kept : {size / 2, uintmax_t{4}, uintmax_t{0}}) {
    std::filesystem::resize_file(options_.file, kept);
    const auto model = LoadTorchScript(options_, info_);
    EXPECT_EQ(model.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(model.status().message().find(options_.file.filename().string()), std::string::npos)
        << model.status();
    EXPECT_EQ(model.status().message().find('\n'), std::string::npos);
  }
  std::ofstream(options_.file, std::ios::trunc) << "not TorchScript at all";
  EXPECT_EQ(LoadTorchScript(options_, info_).status().code(), absl::StatusCode::kInvalidArgument);
  std::filesystem::remove(options_.file);
  EXPECT_EQ(LoadTorchScript(options_, info_).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace millrace::torchscript
