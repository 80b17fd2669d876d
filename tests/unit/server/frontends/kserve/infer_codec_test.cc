#include "server/frontends/kserve/infer_codec.h"

#include <limits>
#include <string>
#include <vector>

#include "tests/unit/server/frontends/kserve/infer_fixture.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

// The demo model: 64 numbers in.
const models::ModelInfo kNull = ModelWith({Spec("INPUT0", DataType::kFp32, {64})});
const models::ModelInfo kTwo =
    ModelWith({Spec("A", DataType::kFp32, {2}), Spec("B", DataType::kInt64, {-1, 2})});

absl::Status Decode(ModelInferRequest request, const models::ModelInfo& model) {
  std::vector<std::string> ignored;
  return DecodeInfer(request, model, ignored).status();
}

ModelInferRequest RawRequest(const std::string& datatype, const std::vector<int64_t>& shape,
                             std::string raw) {
  ModelInferRequest request;
  AddInput(request, "INPUT0", datatype, shape);
  request.add_raw_input_contents(std::move(raw));
  return request;
}

TEST(DecodeInferTest, TakesRawContentsAsTheyAre) {
  std::vector<float> values(64);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 3;
  ModelInferRequest request = RawRequest("FP32", {64}, Bytes(values));
  request.add_outputs()->set_name("OUT");
  std::vector<std::string> ignored;
  const auto input = DecodeInfer(request, kNull, ignored);
  ASSERT_TRUE(input.ok()) << input.status();
  ASSERT_EQ(input->inputs.size(), 1U);
  EXPECT_EQ(input->inputs[0].name, "INPUT0");
  EXPECT_EQ(input->inputs[0].type, DataType::kFp32);
  EXPECT_THAT(input->inputs[0].shape, ElementsAre(64));
  EXPECT_EQ(input->inputs[0].data, Bytes(values));
  EXPECT_THAT(input->requested_outputs, ElementsAre("OUT"));
  EXPECT_TRUE(request.raw_input_contents(0).empty());  // moved, not copied
}

TEST(DecodeInferTest, ParametersWithoutEffectAreNamed) {
  ModelInferRequest request = RawRequest("FP32", {64}, std::string(256, '\0'));
  auto& parameters = *request.mutable_parameters();
  parameters["priority"].set_uint64_param(3);
  parameters["timeout"].set_int64_param(5);
  parameters["sequence_start"].set_bool_param(false);
  (*request.mutable_inputs(0)->mutable_parameters())["anything"].set_string_param("x");
  std::vector<std::string> ignored;
  ASSERT_TRUE(DecodeInfer(request, kNull, ignored).ok());
  EXPECT_THAT(ignored, ElementsAre("parameters.priority", "inputs[0].parameters.anything"));
}

TEST(DecodeInferTest, InputsMayComeInAnyOrder) {
  ModelInferRequest request;
  AddInput(request, "B", "INT64", {1, 2});
  AddInput(request, "A", "FP32", {2});
  request.add_raw_input_contents(Bytes<int64_t>({7, 8}));
  request.add_raw_input_contents(Bytes<float>({1, 2}));
  std::vector<std::string> ignored;
  const auto input = DecodeInfer(request, kTwo, ignored);
  ASSERT_TRUE(input.ok()) << input.status();
  EXPECT_EQ(input->inputs[0].name, "B");
  EXPECT_EQ(input->inputs[0].data, Bytes<int64_t>({7, 8}));
  EXPECT_EQ(input->inputs[1].data, Bytes<float>({1, 2}));
}

TEST(DecodeInferTest, WildcardTakesAnySizeAndNone) {
  const models::ModelInfo model = ModelWith({Spec("INPUT0", DataType::kInt8, {-1, 2})});
  EXPECT_TRUE(Decode(RawRequest("INT8", {3, 2}, "abcdef"), model).ok());
  EXPECT_TRUE(Decode(RawRequest("INT8", {0, 2}, ""), model).ok());
}

TEST(DecodeInferTest, ScalarHasOneElement) {
  const models::ModelInfo model = ModelWith({Spec("INPUT0", DataType::kFp64, {})});
  EXPECT_TRUE(Decode(RawRequest("FP64", {}, Bytes<double>({1})), model).ok());
  EXPECT_FALSE(Decode(RawRequest("FP64", {}, ""), model).ok());
}

TEST(DecodeInferTest, WrongNumberOfInputsNamesThem) {
  ExpectInvalid(Decode({}, kTwo), "inputs: has 0 tensors; model 'm' takes 2: A, B");
  ModelInferRequest request;
  for (int i = 0; i < 3; ++i) AddInput(request, "A", "FP32", {2});
  ExpectInvalid(Decode(request, kTwo), "inputs: has 3 tensors; model 'm' takes 2: A, B");
}

TEST(DecodeInferTest, UnknownInputNamesTheInputs) {
  ModelInferRequest request;
  AddInput(request, "X", "FP32", {64});
  ExpectInvalid(Decode(request, kNull),
                "inputs[0].name: 'X' is not an input of model 'm'; its inputs: INPUT0");
}

TEST(DecodeInferTest, LongNamesAreCutInTheMessage) {
  ModelInferRequest request;
  AddInput(request, std::string(100'000, 'x'), "FP32", {64});
  EXPECT_LT(Decode(request, kNull).message().size(), 200U);
  ModelInferRequest type;
  AddInput(type, "INPUT0", std::string(100'000, 'x'), {64});
  EXPECT_LT(Decode(type, kNull).message().size(), 200U);
}

TEST(DecodeInferTest, InputGivenTwiceIsRefused) {
  ModelInferRequest request;
  AddInput(request, "A", "FP32", {2}).mutable_contents()->add_fp32_contents(1);
  request.mutable_inputs(0)->mutable_contents()->add_fp32_contents(2);
  *request.add_inputs() = request.inputs(0);
  ExpectInvalid(Decode(request, kTwo), "inputs[1].name: 'A' was given before");
}

TEST(DecodeInferTest, WrongDatatypeNamesTheRightOne) {
  for (const char* type : {"FP64", "INT32", "fp32", ""}) {
    ExpectInvalid(
        Decode(RawRequest(type, {64}, std::string(256, '\0')), kNull),
        "inputs[0].datatype: '" + std::string(type) + "' is not what input 'INPUT0' takes: FP32");
  }
}

TEST(DecodeInferTest, WrongShapeShowsBoth) {
  const std::vector<std::pair<std::vector<int64_t>, std::string>> shapes = {
      {{63}, "[63]"},   {{}, "[]"},   {{1, 64}, "[1,64]"},
      {{-64}, "[-64]"}, {{0}, "[0]"}, {{kMax}, "[9223372036854775807]"}};
  for (const auto& [shape, text] : shapes) {
    ExpectInvalid(Decode(RawRequest("FP32", shape, std::string(256, '\0')), kNull),
                  "inputs[0].shape: is " + text + "; the model takes [64] (-1: any size >= 0)");
  }
}

TEST(DecodeInferTest, NegativeSizesDoNotMatchAWildcard) {
  const models::ModelInfo model = ModelWith({Spec("INPUT0", DataType::kFp32, {-1, -1})});
  for (const int64_t bad : {int64_t{-1}, int64_t{-2}, kMin}) {
    const absl::Status status = Decode(RawRequest("FP32", {2, bad}, ""), model);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_THAT(status.ToString(), HasSubstr("inputs[0].shape"));
  }
  EXPECT_FALSE(Decode(RawRequest("FP32", {-1, -1}, Bytes<float>({1})), model).ok());
}

// The product and the byte count must not wrap around to what was sent.
TEST(DecodeInferTest, HugeSizesAreRefused) {
  const models::ModelInfo model = ModelWith({Spec("INPUT0", DataType::kFp32, {-1, -1})});
  const int64_t half = int64_t{1} << 32;
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{half, half},           // 2^64 elements: 0 after the wrap
                                         {kMax, 2},              // negative after it
                                         {int64_t{1} << 62, 1},  // 2^64 bytes: 0 after it
                                         {kMax, 1},
                                         {half, 1}}) {
    const absl::Status raw = Decode(RawRequest("FP32", shape, ""), model);
    EXPECT_EQ(raw.code(), absl::StatusCode::kInvalidArgument) << shape[0] << "x" << shape[1];
    ModelInferRequest typed;
    AddInput(typed, "INPUT0", "FP32", shape);
    EXPECT_EQ(Decode(typed, model).code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(DecodeInferTest, WrongByteCountShowsBoth) {
  for (const size_t bytes : {0U, 1U, 252U, 255U, 257U, 260U}) {
    ExpectInvalid(Decode(RawRequest("FP32", {64}, std::string(bytes, '\0')), kNull),
                  "raw_input_contents[0]: has " + std::to_string(bytes) +
                      " bytes; FP32[64] needs 64 elements of 4 bytes");
  }
}

TEST(DecodeInferTest, RawEntriesMustBeOneForEachInput) {
  ModelInferRequest request;
  AddInput(request, "A", "FP32", {2});
  AddInput(request, "B", "INT64", {1, 2});
  request.add_raw_input_contents(Bytes<float>({1, 2}));
  const std::string rest = " entries; must have none or one for each of the 2 inputs";
  ExpectInvalid(Decode(request, kTwo), "raw_input_contents: has 1" + rest);
  request.add_raw_input_contents("");
  request.add_raw_input_contents("");
  ExpectInvalid(Decode(request, kTwo), "raw_input_contents: has 3" + rest);
}

TEST(DecodeInferTest, RawAndTypedTogetherAreRefused) {
  ModelInferRequest request = RawRequest("FP32", {64}, std::string(256, '\0'));
  request.mutable_inputs(0)->mutable_contents()->add_fp32_contents(1);
  ExpectInvalid(Decode(request, kNull),
                "inputs[0].contents: must be empty when raw_input_contents is used");
}

TEST(DecodeInferTest, AnOutputIsAskedForOnce) {
  ModelInferRequest request = RawRequest("FP32", {64}, std::string(256, '\0'));
  for (int i = 0; i < 2; ++i) request.add_outputs()->set_name("OUT");
  ExpectInvalid(Decode(request, kNull), "outputs[1].name: 'OUT' was given before");
}

TEST(DecodeInferTest, UnknownOutputNamesTheOutputs) {
  ModelInferRequest request = RawRequest("FP32", {64}, std::string(256, '\0'));
  request.add_outputs()->set_name("OUT");
  request.add_outputs()->set_name("NO");
  ExpectInvalid(Decode(request, kNull),
                "outputs[1].name: 'NO' is not an output of model 'm'; its outputs: OUT");
}

TEST(EncodeInferTest, WritesNameTypeShapeAndRawData) {
  models::InferOutput output;
  output.outputs.push_back({"OUT", DataType::kBf16, {2, 1}, "abcd"});
  output.outputs.push_back({"TEXT", DataType::kBytes, {0}, ""});
  inference::ModelInferResponse response;
  EncodeInfer(std::move(output), response);
  ASSERT_EQ(response.outputs_size(), 2);
  EXPECT_EQ(response.outputs(0).name(), "OUT");
  EXPECT_EQ(response.outputs(0).datatype(), "BF16");
  EXPECT_THAT(response.outputs(0).shape(), ElementsAre(2, 1));
  EXPECT_EQ(response.outputs(1).datatype(), "BYTES");
  EXPECT_THAT(response.raw_output_contents(), ElementsAre("abcd", ""));
}

}  // namespace
}  // namespace millrace::server
