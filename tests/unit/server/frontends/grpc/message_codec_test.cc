#include "server/frontends/grpc/message_codec.h"

#include <gmock/gmock.h>
#include <grpcpp/support/slice.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "inference/grpc_service.pb.h"
#include "millrace/v1/synthesis.pb.h"
#include "millrace/v1/translation.pb.h"
#include "server/rpc/grpc_buffer.h"

namespace millrace::server {
namespace {

using inference::ModelInferRequest;
using ::testing::HasSubstr;

constexpr char kBad[] = "bad\xFF";

ByteBuffer Buffer(const std::string& bytes, size_t slices = 1) {
  std::vector<grpc::Slice> parts;
  const size_t size = bytes.size() / slices;
  for (size_t i = 0; i < slices; ++i)
    parts.emplace_back(bytes.substr(i * size, i + 1 < slices ? size : std::string::npos));
  ByteBuffer buffer;
  ToGrpc(buffer) = grpc::ByteBuffer(parts.data(), parts.size());
  return buffer;
}

// The wire form of a string or message field: tag, length, bytes.
std::string Field(int number, const std::string& content) {
  std::string bytes(1, static_cast<char>(number << 3 | 2));
  size_t size = content.size();
  for (; size >= 0x80; size >>= 7) bytes += static_cast<char>(size | 0x80);
  return bytes + static_cast<char>(size) + content;
}

template <typename Message>
std::string ErrorOf(const std::string& bytes) {
  Message message;
  const absl::Status status = ParseMessage(Buffer(bytes), message);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}

TEST(ParseMessageTest, ReadsWhatSerializeWrote) {
  v1::TranslateRequest request;
  request.set_model("en-pt");
  request.add_texts("Ol\xC3\xA1");
  ByteBuffer buffer;
  ASSERT_TRUE(SerializeMessage(request, buffer).ok());
  v1::TranslateRequest read;
  ASSERT_TRUE(ParseMessage(buffer, read).ok());
  EXPECT_EQ(read.SerializeAsString(), request.SerializeAsString());
  EXPECT_TRUE(ParseMessage(buffer, read).ok());  // the buffer is still whole
}

std::string Repeated(const std::string& bytes, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += bytes;
  return all;
}

// A few million values of a byte or two each, at every place where one can be.
TEST(ParseMessageTest, AMessageThatTakesFarMoreThanItsBytesIsRefused) {
  constexpr size_t kMany = 3'000'000;
  const std::string empties = Repeated(Field(5, ""), kMany);  // inputs
  const std::string raws = Repeated(Field(7, ""), kMany);     // raw_input_contents
  const std::string numbers(2 * kMany, '\1');
  const std::string unknown_numbers = Repeated({"\xf8\x06\x01", 3}, kMany);
  const std::string unknown_groups = Repeated({"\x0b\x0c", 2}, kMany);
  for (const std::string& bytes :
       {empties, raws, Field(5, Field(3, numbers)), Field(5, Field(5, Field(3, numbers))),
        unknown_numbers, unknown_groups, Field(2, "one") + Field(5, unknown_numbers)}) {
    EXPECT_THAT(ErrorOf<ModelInferRequest>(bytes), HasSubstr("too many small values"))
        << bytes.size();
  }
}

TEST(ParseMessageTest, AShortMessageMayBeOfStringsButNotOfSubmessages) {
  EXPECT_THAT(ErrorOf<ModelInferRequest>(Repeated(Field(5, ""), 30'000)),
              HasSubstr("too many small values"));
  v1::TranslateRequest request;
  for (int i = 0; i < 10'000; ++i) request.add_texts("");
  v1::TranslateRequest read;
  const absl::Status status = ParseMessage(Buffer(request.SerializeAsString()), read);
  EXPECT_TRUE(status.ok()) << status;
}

TEST(ParseMessageTest, ALongMessageThatTakesLittleMoreThanItsBytesIsRead) {
  ModelInferRequest request;
  request.set_model_name("null");
  request.add_raw_input_contents(std::string(20 << 20, 'x'));
  for (int i = 0; i < 1000; ++i) request.add_inputs()->set_name("INPUT0");
  request.mutable_inputs(0)->mutable_contents()->mutable_int64_contents()->Resize(500'000, 1);
  request.mutable_inputs(0)->mutable_contents()->mutable_fp32_contents()->Resize(500'000, 1);
  ModelInferRequest read;
  const absl::Status status = ParseMessage(Buffer(request.SerializeAsString(), 1000), read);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(read.SerializeAsString(), request.SerializeAsString());
}

TEST(ParseMessageTest, ReadsABufferOfManySlices) {
  v1::TranslateRequest request;
  request.add_texts(std::string(10'000, 'a'));
  v1::TranslateRequest read;
  ASSERT_TRUE(ParseMessage(Buffer(request.SerializeAsString(), 7), read).ok());
  EXPECT_EQ(read.texts(0), request.texts(0));
}

TEST(ParseMessageTest, EmptyBufferIsAnEmptyMessage) {
  v1::TranslateRequest request;
  EXPECT_TRUE(ParseMessage(Buffer(""), request).ok());
  EXPECT_EQ(request.ByteSizeLong(), 0U);
}

TEST(ParseMessageTest, NoBufferIsNoMessage) {
  v1::TranslateRequest request;
  EXPECT_EQ(ParseMessage(ByteBuffer(), request).code(), absl::StatusCode::kInvalidArgument);
}

TEST(ParseMessageTest, NamesTheStringThatIsNotUtf8) {
  EXPECT_EQ(ErrorOf<v1::SynthesizeRequest>(Field(1, "joe") + Field(4, kBad)),
            "text: is not valid UTF-8");
}

TEST(ParseMessageTest, CountsInRepeatedFields) {
  EXPECT_EQ(ErrorOf<v1::TranslateRequest>(Field(5, "good") + Field(1, "m") + Field(5, "good") +
                                          Field(5, kBad)),
            "texts[2]: is not valid UTF-8");
}

TEST(ParseMessageTest, FollowsNestedMessages) {
  const std::string good = Field(1, "A") + Field(2, "FP32");
  EXPECT_EQ(ErrorOf<ModelInferRequest>(Field(1, "m") + Field(5, good) +
                                       Field(5, Field(1, "B") + Field(2, kBad))),
            "inputs[1].datatype: is not valid UTF-8");
  // inputs[0].parameters[0] is an entry of a map; its key is a string.
  EXPECT_EQ(ErrorOf<ModelInferRequest>(Field(5, good + Field(4, Field(1, kBad)))),
            "inputs[0].parameters[0].key: is not valid UTF-8");
}

TEST(ParseMessageTest, BytesFieldsNeedNotBeUtf8) {
  ModelInferRequest request;
  EXPECT_TRUE(ParseMessage(Buffer(Field(7, kBad)), request).ok());
  EXPECT_EQ(request.raw_input_contents(0), kBad);
  // Only the string is named when there are both.
  EXPECT_EQ(ErrorOf<ModelInferRequest>(Field(7, kBad) + Field(3, kBad)), "id: is not valid UTF-8");
}

TEST(ParseMessageTest, GarbageNamesTheMessage) {
  for (const std::string& bytes : {std::string("\xFF\xFF\xFF\xFF"),
                                   std::string("\x0A\x7F"
                                               "a"),
                                   Field(1, "model").substr(0, 4), std::string(1, '\x0B')}) {
    EXPECT_EQ(ErrorOf<v1::TranslateRequest>(bytes),
              "the request is not a valid millrace.v1.TranslateRequest message");
  }
}

TEST(ParseMessageTest, UnknownFieldsAreIgnored) {
  v1::TranslateRequest request;
  EXPECT_TRUE(ParseMessage(Buffer(Field(15, kBad) + Field(1, "m")), request).ok());
  EXPECT_EQ(request.model(), "m");
}

}  // namespace
}  // namespace millrace::server
