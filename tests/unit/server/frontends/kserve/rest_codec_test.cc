#include "server/frontends/kserve/rest_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/unit/server/frontends/kserve/rest_fixture.h"

namespace millrace::server {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The bytes that come of data in JSON, or the error.
absl::StatusOr<std::string> DataOf(DataType type, const std::vector<int64_t>& shape,
                                   const std::string& data) {
  auto request = DecodeJson(RequestFor(type, json(shape).dump(), data),
                            ModelOf(type, std::vector<int64_t>(shape.size(), -1)));
  if (!request.ok()) return request.status();
  return request->input.inputs.at(0).data;
}

TEST(RestDecodeTest, ElementsBecomeTheBytesOfTheirType) {
  EXPECT_EQ(*DataOf(DataType::kBool, {3}, "[true,false,true]"), Bytes<uint8_t>({1, 0, 1}));
  EXPECT_EQ(*DataOf(DataType::kInt8, {2}, "[-128,127]"), Bytes<int8_t>({-128, 127}));
  EXPECT_EQ(*DataOf(DataType::kInt16, {2}, "[-32768,7]"), Bytes<int16_t>({-32768, 7}));
  EXPECT_EQ(*DataOf(DataType::kInt32, {1}, "[-5]"), Bytes<int32_t>({-5}));
  EXPECT_EQ(*DataOf(DataType::kInt64, {2}, "[-9223372036854775808,1]"),
            Bytes<int64_t>({std::numeric_limits<int64_t>::min(), 1}));
  EXPECT_EQ(*DataOf(DataType::kUint8, {1}, "[255]"), Bytes<uint8_t>({255}));
  EXPECT_EQ(*DataOf(DataType::kUint16, {1}, "[65535]"), Bytes<uint16_t>({65535}));
  EXPECT_EQ(*DataOf(DataType::kUint32, {1}, "[4294967295]"), Bytes<uint32_t>({4294967295U}));
  EXPECT_EQ(*DataOf(DataType::kUint64, {1}, "[18446744073709551615]"),
            Bytes<uint64_t>({std::numeric_limits<uint64_t>::max()}));
  EXPECT_EQ(*DataOf(DataType::kFp32, {4}, "[1, -2, 0.1, -1e-3]"),
            Bytes<float>({1, -2, 0.1F, -1e-3F}));
  EXPECT_EQ(*DataOf(DataType::kFp64, {2}, "[0.1,-7]"), Bytes<double>({0.1, -7}));
  EXPECT_EQ(*DataOf(DataType::kBytes, {3}, R"(["ab","","\u0000é"])"),
            Bytes<uint32_t>({2}) + "ab" + Bytes<uint32_t>({0}) + Bytes<uint32_t>({3}) +
                std::string("\0\xc3\xa9", 3));
}

TEST(RestDecodeTest, DataAreFlatOrNestedAsTheShapeSays) {
  for (const char* data : {"[1,2,3,4,5,6]", "[[1,2],[3,4],[5,6]]"})
    EXPECT_EQ(*DataOf(DataType::kInt8, {3, 2}, data), "\1\2\3\4\5\6") << data;
  EXPECT_EQ(*DataOf(DataType::kInt8, {1, 2, 1}, "[[[7],[8]]]"), "\7\10");
  for (const char* data : {"[]", "[[],[]]"}) EXPECT_EQ(*DataOf(DataType::kInt8, {2, 0}, data), "");
  EXPECT_EQ(*DataOf(DataType::kInt8, {}, "[9]"), "\11");
}

TEST(RestDecodeTest, DataThatDoNotFitTheShapeAreRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"[1,2,3,4,5]", "inputs[0].data: has 5 elements; shape [3,2] needs 6"},
      {"[]", "inputs[0].data: has 0 elements; shape [3,2] needs 6"},
      {"[1,2,3,4,5,6,7]", "inputs[0].data: has more elements than the shape [3,2] needs"},
      {"[[1,2,3],[4,5,6]]", "inputs[0].data: has more elements than the shape [3,2] needs"},
      {"[[1,2],[3],[4,5]]",
       "inputs[0].data: an array has 1 elements where the shape [3,2] needs 2"},
      {"[[1,2],[3,4]]", "inputs[0].data: an array has 2 elements where the shape [3,2] needs 3"},
      {"[[1,2],[3,4],[5,6],[7,8]]", "inputs[0].data: has more elements than the shape [3,2] needs"},
      {"[[1,2],3,4,[5,6]]", "inputs[0].data: must be flat, or nested as the shape [3,2] says"},
      {"[1,2,[3,4],5,6]", "inputs[0].data: must be flat, or nested as the shape [3,2] says"},
      {"[[[1,2]]]", "inputs[0].data: must be flat, or nested as the shape [3,2] says"},
      {"[{}]", "inputs[0].data: must not hold an object"},
      {"7", "inputs[0].data: must be an array, not 7"},
      {"{}", "inputs[0].data: must be an array, not an object"},
      {"null", "inputs[0]: needs either data or the parameter binary_data_size"}};
  for (const auto& [data, message] : cases)
    ExpectInvalid(DataOf(DataType::kInt8, {3, 2}, data).status(), message);
}

TEST(RestDecodeTest, AnElementThatIsNoneOfItsTypeIsNamed) {
  // shown: the element as the message has it, if that differs.
  const auto expect = [](DataType type, const std::string& element, const std::string& allowed,
                         const std::string& shown = "") {
    const std::string good = type == DataType::kBool    ? "true"
                             : type == DataType::kBytes ? "\"x\""
                                                        : "1";
    ExpectInvalid(DataOf(type, {2}, "[" + good + "," + element + "]").status(),
                  "inputs[0].data[1]: must be " + allowed + " for " + std::string(ToString(type)) +
                      ", not " + (shown.empty() ? element : shown));
  };
  expect(DataType::kInt8, "128", "a whole number of -128..127");
  expect(DataType::kInt8, "-129", "a whole number of -128..127");
  expect(DataType::kInt16, "32768", "a whole number of -32768..32767");
  expect(DataType::kUint8, "-1", "a whole number of 0..255");
  expect(DataType::kUint16, "65536", "a whole number of 0..65535");
  expect(DataType::kUint32, "4294967296", "a whole number of 0..4294967295");
  const std::string of_int64 = "a whole number of -9223372036854775808..9223372036854775807";
  expect(DataType::kInt64, "9223372036854775808", of_int64);
  expect(DataType::kInt64, "1.5", of_int64);
  expect(DataType::kUint64, "18446744073709551616", "a whole number of 0..18446744073709551615",
         "18446744073709551616");
  expect(DataType::kInt32, "1.5", "a whole number of -2147483648..2147483647");
  const std::string of_fp32 = "a number of -3.40282e+38..3.40282e+38";
  expect(DataType::kFp32, "3.5e38", of_fp32, "3.5e+38");
  for (const char* no_number : {"true", "null"}) expect(DataType::kFp32, no_number, of_fp32);
  expect(DataType::kFp32, "\"1\"", of_fp32, "'1'");
  expect(DataType::kFp64, "\"" + std::string(100, 'x') + "\"",
         "a number of -1.79769e+308..1.79769e+308", "'" + std::string(64, 'x') + "...'");
  for (const char* no_bool : {"0", "1", "1.5", "null"})
    expect(DataType::kBool, no_bool, "true or false");
  expect(DataType::kBool, "\"true\"", "true or false", "'true'");
  for (const char* no_text : {"0", "null", "false"}) expect(DataType::kBytes, no_text, "a string");
  for (const DataType type : {DataType::kFp16, DataType::kBf16}) {
    ExpectInvalid(DataOf(type, {1}, "[1]").status(),
                  "inputs[0].data: " + std::string(ToString(type)) +
                      " has no form in JSON; send it as binary data");
  }
}

// As sorted members come.
TEST(RestDecodeTest, DataMayComeBeforeWhatTheyAre) {
  const auto request = DecodeJson(
      R"({"inputs":[{"data":[[1,2],[3,4]],"datatype":"INT8","name":"B","shape":[2,2]},
                    {"name":"A","datatype":"FP32","shape":[1],"data":[0.5]}],
          "outputs":[{"name":"OUT"}], "parameters":{"timeout":5}})",
      kPairModel);
  ASSERT_TRUE(request.ok()) << request.status();
  ASSERT_EQ(request->input.inputs.size(), 2U);
  EXPECT_EQ(request->input.inputs[0].data, "\1\2\3\4");
  EXPECT_EQ(request->input.inputs[1].data, Bytes<float>({0.5F}));
  EXPECT_THAT(request->input.requested_outputs, ElementsAre("OUT"));
  EXPECT_EQ(request->timeout_us, 5U);
  const auto wrong = [](const std::string& data) {
    return DecodeJson(RequestWith("\"data\":" + data +
                                  ",\"name\":\"X\",\"datatype\":\"INT8\",\"shape\":[2]"),
                      ModelOf(DataType::kInt8, {2}))
        .status();
  };
  ExpectInvalid(wrong("[1,300]"),
                "inputs[0].data[1]: must be a whole number of -128..127 for INT8, not 300");
  ExpectInvalid(wrong("[1]"), "inputs[0].data: has 1 elements; shape [2] needs 2");
  ExpectInvalid(wrong("[1,{\"a\":1}]"), "inputs[0].data: must not hold an object");
  ExpectInvalid(wrong("[[1,2]]"), "inputs[0].data: must be flat, or nested as the shape [2] says");
}

TEST(RestDecodeTest, MembersThatAreNotKnownAreSkipped) {
  const auto request = DecodeJson(
      R"({"model_name":"other","extra":{"inputs":[{"name":1}],"deep":[[{}]]},"id":"7",
          "parameters":{"priority":3,"nested":{"timeout":"x"}},
          "inputs":[{"name":"X","datatype":"INT8","shape":[1],"data":[1],"more":[1,{"data":2}],
                     "parameters":{"content_type":"np","list":[1]}}],
          "outputs":null})",
      ModelOf(DataType::kInt8, {1}));
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->form.id, "7");
  EXPECT_EQ(request->input.inputs.at(0).data, "\1");
  EXPECT_TRUE(request->input.requested_outputs.empty());
}

TEST(RestDecodeTest, MembersOfTheWrongFormAreNamed) {
  const std::string x = R"("name":"X","datatype":"INT8","shape":[1],"data":[1])";
  const std::pair<std::string, const char*> cases[] = {
      {"[]", "the body must be a JSON object, not an array"},
      {"3", "the body must be a JSON object, not 3"},
      {"null", "the body must be a JSON object, not null"},
      {"\"x\"", "the body must be a JSON object, not 'x'"},
      {"{\"id\":7}", "id: must be a string, not 7"},
      {"{\"id\":[]}", "id: must be a string, not an array"},
      {"{\"id\":\"" + std::string(129, 'x') + "\"}", "id: has 129 bytes; at most 128 are allowed"},
      {"{\"id\":\"a\",\"id\":\"b\"}", "id: is given twice"},
      {"{\"inputs\":{}}", "inputs: must be an array, not an object"},
      {"{\"inputs\":true}", "inputs: must be an array, not true"},
      {"{\"inputs\":[7]}", "inputs[0]: must be an object, not 7"},
      {"{\"inputs\":[[]]}", "inputs[0]: must be an object, not an array"},
      {"{\"outputs\":\"OUT\"}", "outputs: must be an array, not 'OUT'"},
      {"{\"outputs\":[\"OUT\"]}", "outputs[0]: must be an object, not 'OUT'"},
      {"{\"outputs\":[{}]}", "outputs[0].name: is missing"},
      {"{\"outputs\":[{\"name\":\"OUT\"},{\"name\":\"OUT\"}]}",
       "outputs[1].name: 'OUT' was given before"},
      {"{\"outputs\":[{\"name\":\"OUT\",\"parameters\":{\"binary_data\":1}}]}",
       "outputs[0].parameters.binary_data: must be true or false, not 1"},
      {"{\"parameters\":[]}", "parameters: must be an object, not an array"},
      {"{\"parameters\":{\"timeout\":-1}}",
       "parameters.timeout: must be a whole number >= 0, not -1"},
      {"{\"parameters\":{\"timeout\":1.5}}",
       "parameters.timeout: must be a whole number >= 0, not 1.5"},
      {"{\"parameters\":{\"binary_data_output\":\"yes\"}}",
       "parameters.binary_data_output: must be true or false, not 'yes'"},
      {RequestWith(R"("name":7)"), "inputs[0].name: must be a string, not 7"},
      {RequestWith(R"("shape":3)"), "inputs[0].shape: must be an array, not 3"},
      {RequestWith(R"("shape":[1.5])"),
       "inputs[0].shape[0]: must be a whole number of 0..9223372036854775807, not 1.5"},
      {RequestWith(R"("shape":[9223372036854775808])"),
       "inputs[0].shape[0]: must be a whole number of 0..9223372036854775807, not "
       "9223372036854775808"},
      {RequestWith(R"("shape":[[1]])"),
       "inputs[0].shape[0]: must be a whole number of 0..9223372036854775807, not an array"},
      {RequestWith(R"("datatype":"INT8","shape":[1],"data":[1])"), "inputs[0].name: is missing"},
      {RequestWith(R"("name":"X","shape":[1],"data":[1])"), "inputs[0].datatype: is missing"},
      {RequestWith(R"("name":"X","datatype":"INT8","data":[1])"), "inputs[0].shape: is missing"},
      {RequestWith(R"("name":"X","datatype":"INT8","shape":[1])"),
       "inputs[0]: needs either data or the parameter binary_data_size"},
      {RequestWith(x + R"(,"parameters":{"binary_data_size":1})"),
       "inputs[0]: needs either data or the parameter binary_data_size, not both"},
      {RequestWith(x + R"(,"parameters":{"binary_data_size":-1})"),
       "inputs[0].parameters.binary_data_size: must be a whole number >= 0, not -1"},
      {RequestWith(x + R"(,"shape":[1])"), "inputs[0].shape: is given twice"},
      {"{\"inputs\":[{" + x + "},{" + x + "}]}", "inputs[1].name: 'X' was given before"},
      {"{}", "inputs: has 0 tensors; model 'm' takes 1: X"}};
  for (const auto& [body, message] : cases)
    ExpectInvalid(DecodeJson(body, ModelOf(DataType::kInt8, {1})).status(), message);
}

TEST(RestDecodeTest, TensorsAreCheckedAsOverGrpc) {
  const models::ModelInfo model = ModelOf(DataType::kFp32, {-1, 4});
  ExpectInvalid(
      DecodeJson(RequestWith(R"("name":"Y","datatype":"FP32","shape":[1,4],"data":[])"), model)
          .status(),
      "inputs[0].name: 'Y' is not an input of model 'm'; its inputs: X");
  ExpectInvalid(
      DecodeJson(RequestWith(R"("name":"X","datatype":"FP64","shape":[1,4],"data":[])"), model)
          .status(),
      "inputs[0].datatype: 'FP64' is not what input 'X' takes: FP32");
  for (const char* shape : {"[1,3]", "[4]", "[]", "[-1,4]", "[4611686018427387904,4]"}) {
    ExpectInvalid(DecodeJson(RequestFor(DataType::kFp32, shape, "[]"), model).status(),
                  "inputs[0].shape: is " + std::string(shape) +
                      "; the model takes [-1,4] (-1: any size >= 0)");
  }
  ExpectInvalid(DecodeJson("{\"outputs\":[{\"name\":\"NO\"}]}", model).status(),
                "outputs[0].name: 'NO' is not an output of model 'm'; its outputs: OUT");
}

// Nothing is reserved for what the shape alone promises.
TEST(RestDecodeTest, AHugeShapeTakesNoMemory) {
  ExpectInvalid(
      DataOf(DataType::kFp64, {int64_t{1} << 60}, "[1]").status(),
      "inputs[0].data: has 1 elements; shape [1152921504606846976] needs 1152921504606846976");
  std::string dimensions = "[1";
  for (int i = 0; i < 100; ++i) dimensions += ",1";
  ExpectInvalid(
      DecodeJson(RequestFor(DataType::kInt8, dimensions + "]", "[1]"), kPairModel).status(),
      "inputs[0].shape: has more than 64 dimensions");
}

TEST(RestDecodeTest, DeepNestingIsRefusedWhereverItIs) {
  const std::string deep(1'000'000, '[');
  const models::ModelInfo model = ModelOf(DataType::kInt8, {1});
  const absl::Status too_deep =
      absl::InvalidArgumentError("the body is nested deeper than 64 levels");
  EXPECT_EQ(DecodeJson("{\"extra\":" + deep, model).status(), too_deep);
  EXPECT_EQ(DecodeJson("{\"parameters\":{\"extra\":" + deep, model).status(), too_deep);
  EXPECT_EQ(DecodeJson(RequestWith("\"data\":" + deep), model).status(), too_deep);
  std::string objects = "{\"extra\":";
  for (int i = 0; i < 100; ++i) objects += "{\"a\":";
  EXPECT_EQ(DecodeJson(objects, model).status(), too_deep);
  ExpectInvalid(DecodeJson(RequestFor(DataType::kInt8, "[1]", deep), model).status(),
                "inputs[0].data: must be flat, or nested as the shape [1] says");
}

TEST(RestDecodeTest, AnEmptyBodyIsToldWhatIsExpected) {
  for (const char* body : {"", " \r\n\t"}) {
    ExpectInvalid(DecodeJson(body, kPairModel).status(),
                  R"(the body is empty; it must be JSON such as {"inputs": [{"name": "A", )"
                  R"("datatype": "FP32", "shape": [-1], "data": [...]}, {"name": "B", )"
                  R"("datatype": "INT8", "shape": [2,-1], "data": [...]}]})");
  }
}

TEST(RestDecodeTest, WhatIsNotJsonIsRefused) {
  const std::string good = RequestFor(DataType::kInt8, "[1]", "[1]");
  ExpectInvalid(DecodeJson(good + '\0' + "more", ModelOf(DataType::kInt8, {1})).status(),
                "the body is not valid JSON at byte " + std::to_string(good.size() + 1) +
                    ", where the byte 0 stands");
  for (const char* data : {"[NaN]", "[Infinity]", "[1", "[1,]", "[\"\xff\"]"}) {
    EXPECT_THAT(DataOf(DataType::kFp32, {1}, data).status().ToString(),
                HasSubstr("the body is not valid JSON at byte "))
        << data;
  }
  ExpectInvalid(DataOf(DataType::kFp64, {1}, "[1e999]").status(),
                "the body is not valid JSON: a number is out of range: '1e999'");
}

}  // namespace
}  // namespace millrace::server
