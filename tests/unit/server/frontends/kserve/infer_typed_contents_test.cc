#include <functional>
#include <limits>
#include <string>

#include "server/frontends/kserve/infer_codec.h"
#include "tests/unit/server/frontends/kserve/infer_fixture.h"

namespace millrace::server {
namespace {

using ::testing::HasSubstr;

// Decodes typed contents for an input X of that type and as many elements.
absl::StatusOr<std::string> DecodeTyped(DataType type, int64_t elements,
                                        const std::function<void(InferTensorContents&)>& fill) {
  const models::ModelInfo model = ModelWith({Spec("X", type, {-1})});
  ModelInferRequest request;
  fill(*AddInput(request, "X", std::string(ToString(type)), {elements}).mutable_contents());
  std::vector<std::string> ignored;
  auto input = DecodeInfer(request, model, ignored);
  if (!input.ok()) return input.status();
  return input->inputs[0].data;
}

TEST(TypedContentsTest, BecomeTheBytesOfTheirType) {
  const auto ints = [](InferTensorContents& c) {
    for (const int32_t v : {-1, 0, 7}) c.add_int_contents(v);
  };
  const auto uints = [](InferTensorContents& c) {
    for (const uint32_t v : {1U, 0U, 200U}) c.add_uint_contents(v);
  };
  EXPECT_EQ(*DecodeTyped(DataType::kInt8, 3, ints), Bytes<int8_t>({-1, 0, 7}));
  EXPECT_EQ(*DecodeTyped(DataType::kInt16, 3, ints), Bytes<int16_t>({-1, 0, 7}));
  EXPECT_EQ(*DecodeTyped(DataType::kInt32, 3, ints), Bytes<int32_t>({-1, 0, 7}));
  EXPECT_EQ(*DecodeTyped(DataType::kUint8, 3, uints), Bytes<uint8_t>({1, 0, 200}));
  EXPECT_EQ(*DecodeTyped(DataType::kUint16, 3, uints), Bytes<uint16_t>({1, 0, 200}));
  EXPECT_EQ(*DecodeTyped(DataType::kUint32, 3, uints), Bytes<uint32_t>({1, 0, 200}));
  EXPECT_EQ(*DecodeTyped(DataType::kInt64, 2,
                         [](InferTensorContents& c) {
                           c.add_int64_contents(std::numeric_limits<int64_t>::min());
                           c.add_int64_contents(5);
                         }),
            Bytes<int64_t>({std::numeric_limits<int64_t>::min(), 5}));
  EXPECT_EQ(*DecodeTyped(DataType::kUint64, 1,
                         [](InferTensorContents& c) {
                           c.add_uint64_contents(std::numeric_limits<uint64_t>::max());
                         }),
            Bytes<uint64_t>({std::numeric_limits<uint64_t>::max()}));
  EXPECT_EQ(*DecodeTyped(DataType::kFp32, 2,
                         [](InferTensorContents& c) {
                           c.add_fp32_contents(1.5F);
                           c.add_fp32_contents(-0.0F);
                         }),
            Bytes<float>({1.5F, -0.0F}));
  EXPECT_EQ(
      *DecodeTyped(DataType::kFp64, 1, [](InferTensorContents& c) { c.add_fp64_contents(0.1); }),
      Bytes<double>({0.1}));
  EXPECT_EQ(*DecodeTyped(DataType::kBool, 3,
                         [](InferTensorContents& c) {
                           for (const bool v : {true, false, true}) c.add_bool_contents(v);
                         }),
            Bytes<uint8_t>({1, 0, 1}));
}

TEST(TypedContentsTest, BytesCarryTheirLengths) {
  const auto data = DecodeTyped(DataType::kBytes, 3, [](InferTensorContents& c) {
    c.add_bytes_contents("ab");
    c.add_bytes_contents("");
    c.add_bytes_contents(std::string("\0x", 2));
  });
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(*data, Bytes<uint32_t>({2}) + "ab" + Bytes<uint32_t>({0}) + Bytes<uint32_t>({2}) +
                       std::string("\0x", 2));
}

TEST(TypedContentsTest, LimitsOfTheTypeAreInRange) {
  const auto pair = [](int32_t a, int32_t b) {
    return [=](InferTensorContents& c) {
      c.add_int_contents(a);
      c.add_int_contents(b);
    };
  };
  EXPECT_EQ(*DecodeTyped(DataType::kInt8, 2, pair(-128, 127)), Bytes<int8_t>({-128, 127}));
  EXPECT_EQ(*DecodeTyped(DataType::kInt16, 2, pair(-32768, 32767)),
            Bytes<int16_t>({-32768, 32767}));
  EXPECT_TRUE(DecodeTyped(DataType::kUint8, 1, [](InferTensorContents& c) {
                c.add_uint_contents(255);
              }).ok());
}

TEST(TypedContentsTest, NumberOutsideItsTypeIsNamed) {
  struct Case {
    DataType type;
    int64_t value;
    std::string field;
    std::string allowed;
  };
  for (const Case& bad : {Case{DataType::kInt8, 128, "int_contents", "-128..127"},
                          Case{DataType::kInt8, -129, "int_contents", "-128..127"},
                          Case{DataType::kInt16, 32768, "int_contents", "-32768..32767"},
                          Case{DataType::kInt16, -32769, "int_contents", "-32768..32767"},
                          Case{DataType::kUint8, 256, "uint_contents", "0..255"},
                          Case{DataType::kUint16, 65536, "uint_contents", "0..65535"}}) {
    const auto fill = [&](InferTensorContents& c) {
      if (bad.field == "int_contents") {
        c.add_int_contents(0);
        c.add_int_contents(static_cast<int32_t>(bad.value));
      } else {
        c.add_uint_contents(0);
        c.add_uint_contents(static_cast<uint32_t>(bad.value));
      }
    };
    ExpectInvalid(DecodeTyped(bad.type, 2, fill).status(),
                  "inputs[0].contents." + bad.field + "[1]: must be a whole number of " +
                      bad.allowed + " for " + std::string(ToString(bad.type)) + ", not " +
                      std::to_string(bad.value));
  }
}

TEST(TypedContentsTest, WrongCountShowsBoth) {
  const auto two = [](InferTensorContents& c) {
    c.add_fp32_contents(1);
    c.add_fp32_contents(2);
  };
  ExpectInvalid(DecodeTyped(DataType::kFp32, 3, two).status(),
                "inputs[0].contents.fp32_contents: has 2 elements; shape [3] needs 3");
  EXPECT_FALSE(DecodeTyped(DataType::kFp32, 1, two).ok());
  EXPECT_FALSE(DecodeTyped(DataType::kFp32, 1, [](InferTensorContents&) {}).ok());
}

TEST(TypedContentsTest, NoElementsNeedNoList) {
  EXPECT_EQ(*DecodeTyped(DataType::kFp32, 0, [](InferTensorContents&) {}), "");
}

TEST(TypedContentsTest, ListOfAnotherTypeIsRefused) {
  ExpectInvalid(
      DecodeTyped(DataType::kFp32, 1, [](InferTensorContents& c) { c.add_fp64_contents(1); })
          .status(),
      "inputs[0].contents: only fp32_contents may be filled for FP32");
  const auto both = [](InferTensorContents& c) {
    c.add_int64_contents(1);
    c.add_uint64_contents(1);
  };
  ExpectInvalid(DecodeTyped(DataType::kInt64, 1, both).status(),
                "inputs[0].contents: only int64_contents may be filled for INT64");
}

TEST(TypedContentsTest, HalfPrecisionMustBeRaw) {
  for (const DataType type : {DataType::kFp16, DataType::kBf16}) {
    const absl::Status status =
        DecodeTyped(type, 1, [](InferTensorContents& c) { c.add_fp32_contents(1); }).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.ToString(), HasSubstr("raw_input_contents"));
  }
}

// Raw contents of BYTES: each element its length and its bytes.
absl::Status DecodeRawBytes(int64_t elements, const std::string& raw) {
  const models::ModelInfo model = ModelWith({Spec("X", DataType::kBytes, {-1})});
  ModelInferRequest request;
  AddInput(request, "X", "BYTES", {elements});
  request.add_raw_input_contents(raw);
  std::vector<std::string> ignored;
  return DecodeInfer(request, model, ignored).status();
}

TEST(RawBytesTest, GoodLayoutIsTaken) {
  EXPECT_TRUE(DecodeRawBytes(0, "").ok());
  EXPECT_TRUE(DecodeRawBytes(1, Bytes<uint32_t>({0})).ok());
  EXPECT_TRUE(DecodeRawBytes(2, Bytes<uint32_t>({3}) + "abc" + Bytes<uint32_t>({1}) + "d").ok());
}

TEST(RawBytesTest, BadLayoutSaysWhere) {
  const std::string where = "raw_input_contents[0]: ";
  ExpectInvalid(DecodeRawBytes(1, "ab"), where + "ends inside the length of element 0");
  ExpectInvalid(DecodeRawBytes(2, Bytes<uint32_t>({0}) + "abc"),
                where + "ends inside the length of element 1");
  ExpectInvalid(DecodeRawBytes(1, Bytes<uint32_t>({4}) + "abc"), where + "ends inside element 0");
  ExpectInvalid(DecodeRawBytes(1, Bytes<uint32_t>({0xFFFFFFFF}) + "abc"),
                where + "ends inside element 0");
  ExpectInvalid(DecodeRawBytes(2, Bytes<uint32_t>({1}) + "a"),
                where + "has 1 elements; the shape needs 2");
  ExpectInvalid(DecodeRawBytes(0, Bytes<uint32_t>({1}) + "a"),
                where + "has 1 elements; the shape needs 0");
  ExpectInvalid(DecodeRawBytes(1, ""), where + "has 0 elements; the shape needs 1");
}

}  // namespace
}  // namespace millrace::server
