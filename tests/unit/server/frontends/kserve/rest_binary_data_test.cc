#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "server/frontends/kserve/rest_codec.h"
#include "tests/unit/server/frontends/kserve/rest_fixture.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char kBinaryPair[] =
    R"({"inputs":[{"name":"B","datatype":"INT8","shape":[2,1],"parameters":{"binary_data_size":2}},
                  {"name":"A","datatype":"FP32","shape":[1],"parameters":{"binary_data_size":4}}]})";

TEST(RestDecodeTest, BinaryDataStandBehindTheJsonInTheOrderOfTheInputs) {
  const auto request = DecodeBinary(kBinaryPair, "\7\10abcd", kPairModel);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->input.inputs[0].data, "\7\10");
  EXPECT_EQ(request->input.inputs[1].data, "abcd");
  const auto mixed = DecodeBinary(
      R"({"inputs":[{"name":"B","datatype":"INT8","shape":[2,1],"data":[1,2]},
          {"name":"A","datatype":"FP32","shape":[1],"parameters":{"binary_data_size":4}}]})",
      "abcd", kPairModel);
  ASSERT_TRUE(mixed.ok()) << mixed.status();
  EXPECT_EQ(mixed->input.inputs[0].data, "\1\2");
  EXPECT_EQ(mixed->input.inputs[1].data, "abcd");
}

TEST(RestDecodeTest, BinaryDataOfEveryType) {
  for (const DataType type :
       {DataType::kBool, DataType::kUint64, DataType::kFp16, DataType::kBf16, DataType::kFp64}) {
    const std::string data(3 * models::ElementSize(type), '\1');
    const std::string text = RequestWith(
        "\"name\":\"X\",\"datatype\":\"" + std::string(ToString(type)) +
        "\",\"shape\":[3],\"parameters\":{\"binary_data_size\":" + std::to_string(data.size()) +
        "}");
    const auto request = DecodeBinary(text, data, ModelOf(type, {-1}));
    ASSERT_TRUE(request.ok()) << request.status();
    EXPECT_EQ(request->input.inputs[0].data, data);
  }
}

TEST(RestDecodeTest, BinaryDataThatAreNotAllThereAreRefused) {
  ExpectInvalid(DecodeBinary(kBinaryPair, "\7\10abc", kPairModel).status(),
                "inputs[1].parameters.binary_data_size: is 4; only 3 bytes of the body are left");
  ExpectInvalid(DecodeBinary(kBinaryPair, "\7\10abcde", kPairModel).status(),
                "the body has 1 bytes more than its JSON and the binary_data_size of its inputs");
  ExpectInvalid(DecodeJson(kBinaryPair, kPairModel).status(),
                "inputs[0].parameters.binary_data_size: is 2; only 0 bytes of the body are left");
  const auto sized = [](const std::string& bytes, const std::string& data) {
    return DecodeBinary(
               RequestWith("\"name\":\"X\",\"datatype\":\"FP32\",\"shape\":[2],\"parameters\":"
                           "{\"binary_data_size\":" +
                           bytes + "}"),
               data, ModelOf(DataType::kFp32, {-1}))
        .status();
  };
  ExpectInvalid(sized("7", "1234567"),
                "the binary data of inputs[0]: has 7 bytes; FP32[2] needs 2 elements of 4 bytes");
  ExpectInvalid(sized("18446744073709551615", "12345678"),
                "inputs[0].parameters.binary_data_size: is 18446744073709551615; only 8 bytes of "
                "the body are left");
}

TEST(RestDecodeTest, BinaryStringsMustAddUp) {
  const auto decode = [](const std::string& data) {
    return DecodeBinary(
        RequestWith("\"name\":\"X\",\"datatype\":\"BYTES\",\"shape\":[2],\"parameters\""
                    ":{\"binary_data_size\":" +
                    std::to_string(data.size()) + "}"),
        data, ModelOf(DataType::kBytes, {-1}));
  };
  const std::string good = Bytes<uint32_t>({2}) + "ab" + Bytes<uint32_t>({0});
  EXPECT_EQ(decode(good)->input.inputs.at(0).data, good);
  ExpectInvalid(decode(Bytes<uint32_t>({2}) + "ab").status(),
                "the binary data of inputs[0]: has 1 elements; the shape needs 2");
  ExpectInvalid(decode(Bytes<uint32_t>({4294967295U}) + "ab").status(),
                "the binary data of inputs[0]: ends inside element 0");
}

TEST(RestDecodeTest, ALengthThatLiesIsRefused) {
  const std::string body = RequestFor(DataType::kInt8, "[1]", "[1]");
  const models::ModelInfo model = ModelOf(DataType::kInt8, {1});
  for (const std::string& length :
       {std::to_string(body.size() + 1), std::string("-1"), std::string("1e2"), std::string(""),
        std::string("99999999999999999999999")}) {
    ExpectInvalid(DecodeRestInfer(body, length, model).status(),
                  "Inference-Header-Content-Length: is '" + length + "'; must be a number of 0.." +
                      std::to_string(body.size()) + ", the bytes of the body");
  }
  EXPECT_THAT(DecodeRestInfer(body, "5", model).status().ToString(), HasSubstr("not valid JSON"));
  EXPECT_TRUE(DecodeRestInfer(body, std::to_string(body.size()), model).ok());
}

TEST(RestDecodeTest, ABodyWithoutJsonIsTheOnlyInput) {
  const auto decode = [](const std::string& body, DataType type, std::vector<int64_t> shape) {
    return DecodeRestInfer(body, "0", ModelOf(type, std::move(shape)));
  };
  const auto free = decode("123456789012", DataType::kInt16, {2, -1});
  ASSERT_TRUE(free.ok()) << free.status();
  EXPECT_THAT(free->input.inputs.at(0).shape, ElementsAre(2, 3));
  EXPECT_EQ(free->input.inputs.at(0).data, "123456789012");
  EXPECT_TRUE(free->form.IsBinary("OUT"));
  EXPECT_THAT(decode("1234", DataType::kInt16, {2})->input.inputs.at(0).shape, ElementsAre(2));
  EXPECT_THAT(decode("", DataType::kInt16, {-1, 0})->input.inputs.at(0).shape, ElementsAre(0, 0));
  EXPECT_EQ(decode("text", DataType::kBytes, {1})->input.inputs.at(0).data,
            Bytes<uint32_t>({4}) + "text");
  ExpectInvalid(decode("1234567", DataType::kInt16, {2, -1}).status(),
                "the body: has 7 bytes; INT16[2,1] needs 2 elements of 2 bytes");
  ExpectInvalid(decode("12", DataType::kInt16, {2}).status(),
                "the body: has 2 bytes; INT16[2] needs 2 elements of 2 bytes");
  for (const auto& [type, shape] :
       {std::pair<DataType, std::vector<int64_t>>{DataType::kInt8, {-1, -1}},
        {DataType::kBytes, {-1}},
        {DataType::kBytes, {2}}}) {
    EXPECT_THAT(decode("12", type, shape).status().ToString(),
                HasSubstr("a body without JSON is the data of a model's only input"));
  }
  EXPECT_THAT(DecodeRestInfer("12", "0", kPairModel).status().ToString(),
              HasSubstr("model 'm' takes 2 inputs"));
}

}  // namespace
}  // namespace millrace::server
