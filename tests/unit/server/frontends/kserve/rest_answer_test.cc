#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "nlohmann/json.hpp"
#include "server/frontends/kserve/rest_codec.h"
#include "tests/unit/server/frontends/kserve/rest_fixture.h"

namespace millrace::server {
namespace {

using nlohmann::json;

models::InferOutput TwoOutputs() {
  models::InferOutput output;
  output.outputs.push_back({"P", DataType::kFp32, {2, 1}, Bytes<float>({0.1F, -2})});
  output.outputs.push_back({"Q", DataType::kBool, {2}, std::string("\1\0", 2)});
  return output;
}

TEST(RestEncodeTest, OutputsAreJsonUnlessAskedForAsBinaryData) {
  const auto answer = EncodeRestInfer(TwoOutputs(), {.id = "i\"d"}, kPairModel);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_FALSE(answer->json_length);
  EXPECT_EQ(answer->body, R"({"model_name":"m","model_version":"1","id":"i\"d","outputs":[)"
                          R"({"name":"P","datatype":"FP32","shape":[2,1],"data":[0.1,-2]},)"
                          R"({"name":"Q","datatype":"BOOL","shape":[2],"data":[true,false]}]})");
}

TEST(RestEncodeTest, BinaryDataFollowTheJson) {
  const auto answer = EncodeRestInfer(
      TwoOutputs(), {.id = "", .binary_outputs = true, .binary_output = {{"Q", false}}},
      kPairModel);
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_TRUE(answer->json_length);
  const json head = json::parse(answer->body.substr(0, *answer->json_length));
  EXPECT_FALSE(head.contains("id"));
  EXPECT_EQ(head["outputs"][0], (json{{"name", "P"},
                                      {"datatype", "FP32"},
                                      {"shape", {2, 1}},
                                      {"parameters", {{"binary_data_size", 8}}}}));
  EXPECT_EQ(head["outputs"][1]["data"], (json{true, false}));
  EXPECT_EQ(answer->body.substr(*answer->json_length), Bytes<float>({0.1F, -2}));
}

TEST(RestEncodeTest, WhatIsAskedForOfAnOutputWins) {
  const auto request = DecodeJson(
      R"({"parameters":{"binary_data_output":true},
          "outputs":[{"name":"OUT","parameters":{"binary_data":false}}],
          "inputs":[{"name":"X","datatype":"INT8","shape":[1],"data":[1]}]})",
      ModelOf(DataType::kInt8, {1}));
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_FALSE(request->form.IsBinary("OUT"));
  EXPECT_TRUE(request->form.IsBinary("another"));
}

// The text of an output, or the error.
absl::StatusOr<std::string> TextOf(DataType type, std::string data) {
  models::InferOutput output;
  output.outputs.push_back({"OUT", type, {1}, std::move(data)});
  const auto answer = EncodeRestInfer(output, {}, kPairModel);
  if (!answer.ok()) return answer.status();
  return json::parse(answer->body)["outputs"][0]["data"].dump();
}

TEST(RestEncodeTest, NumbersComeBackAsTheyWere) {
  EXPECT_EQ(*TextOf(DataType::kInt64, Bytes<int64_t>({std::numeric_limits<int64_t>::min()})),
            "[-9223372036854775808]");
  EXPECT_EQ(*TextOf(DataType::kUint64, Bytes<uint64_t>({std::numeric_limits<uint64_t>::max()})),
            "[18446744073709551615]");
  EXPECT_EQ(*TextOf(DataType::kUint8, Bytes<uint8_t>({200})), "[200]");
  EXPECT_EQ(*TextOf(DataType::kInt8, Bytes<int8_t>({-1})), "[-1]");
  for (const float value : {0.1F, 1e-45F, 3.4028235e38F, -0.0F, 16777217.0F}) {
    models::InferOutput output;
    output.outputs.push_back({"OUT", DataType::kFp32, {1}, Bytes<float>({value})});
    const auto text = EncodeRestInfer(output, {}, kPairModel);
    const json data = json::parse(text->body)["outputs"][0]["data"];
    EXPECT_EQ(Bytes<float>({static_cast<float>(data[0].get<double>())}), Bytes<float>({value}));
  }
  EXPECT_EQ(*TextOf(DataType::kBytes, Bytes<uint32_t>({3}) + "a\"\n" + Bytes<uint32_t>({0})),
            R"(["a\"\n",""])");
}

TEST(RestEncodeTest, WhatJsonCannotSayIsAnError) {
  const std::string rest = ", which has no form in JSON; ask for it as binary data";
  ExpectInvalid(
      TextOf(DataType::kFp32, Bytes<float>({0, std::numeric_limits<float>::quiet_NaN()})).status(),
      "output 'OUT': element 1 is not a finite number" + rest);
  ExpectInvalid(
      TextOf(DataType::kFp64, Bytes<double>({std::numeric_limits<double>::infinity()})).status(),
      "output 'OUT': element 0 is not a finite number" + rest);
  ExpectInvalid(TextOf(DataType::kBytes, Bytes<uint32_t>({1}) + "\xff").status(),
                "output 'OUT': element 0 is not UTF-8" + rest);
  ExpectInvalid(TextOf(DataType::kFp16, "ab").status(),
                "output 'OUT': FP16 has no form in JSON; ask for it as binary data");
}

}  // namespace
}  // namespace millrace::server
