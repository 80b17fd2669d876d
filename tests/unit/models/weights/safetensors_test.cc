#include "models/weights/safetensors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>

#include "mps_runtime/base/file.h"
#include "tests/fakes/temporary_folder.h"

namespace millrace::models {
namespace {

class SafetensorsTest : public ::testing::Test {
 protected:
  // A file of this header and data, with the header's true length or another.
  absl::StatusOr<SafetensorsFile> Open(std::string header, const std::string& data,
                                       int64_t length = -1) {
    header.resize((header.size() + 7) / 8 * 8, ' ');
    const uint64_t bytes = length < 0 ? header.size() : static_cast<uint64_t>(length);
    std::ofstream out(folder_.path() / "x.safetensors", std::ios::binary);
    out.write(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
    out << header << data;
    out.close();
    return SafetensorsFile::Open(folder_.path() / "x.safetensors");
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(SafetensorsTest, ReadsTensorsAndMetadata) {
  const std::string data("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A\x0B\x0C", 12);
  const auto file =
      Open(R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},
      "b":{"dtype":"I8","shape":[4],"data_offsets":[8,12]}})",
           data);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->metadata().at("k"), "v");
  const auto a = file->Find("a");
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(a->type, DataType::kFp32);
  EXPECT_EQ(a->shape, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(a->bytes, 8U);
  const auto b = file->Find("b");
  ASSERT_TRUE(b.ok());
  EXPECT_EQ(std::memcmp(b->data, data.data() + 8, 4), 0);
}

TEST_F(SafetensorsTest, AMissingTensorIsNamedWithItsFile) {
  const auto file = Open("{}", "");
  ASSERT_TRUE(file.ok()) << file.status();
  const auto missing = file->Find("nothing");
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(missing.status().message().find("x.safetensors: no tensor named 'nothing'"),
            std::string::npos);
}

TEST_F(SafetensorsTest, MovingKeepsTheViews) {
  auto file = Open(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "Z");
  ASSERT_TRUE(file.ok());
  SafetensorsFile moved = *std::move(file);
  SafetensorsFile again = std::move(moved);
  EXPECT_EQ(std::to_integer<char>(again.Find("a")->data[0]), 'Z');
}

TEST_F(SafetensorsTest, AReleasedTensorTakesNoMemoryUntilItIsReadAgain) {
  const auto page = static_cast<size_t>(getpagesize());
  std::string data(4 * page, 'b');
  data[0] = 'a';
  data.back() = 'c';
  const auto file = Open(
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
      "\"b\":{\"dtype\":\"U8\",\"shape\":[" +
          std::to_string(data.size() - 2) + "],\"data_offsets\":[1," +
          std::to_string(data.size() - 1) + "]}}",
      data);
  ASSERT_TRUE(file.ok()) << file.status();
  const auto b = file->Find("b");
  ASSERT_TRUE(b.ok());
  const auto all_b = [&] {
    return std::all_of(b->data, b->data + b->bytes,
                       [](std::byte x) { return x == std::byte{'b'}; });
  };
  EXPECT_TRUE(all_b());
  // Returns whether the page in the middle is in the memory of this process.
  const auto resident = [&] {
    const FileDescriptor pages(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
    uint64_t entry = 0;
    const auto at = reinterpret_cast<uintptr_t>(b->data + b->bytes / 2) / page * sizeof(entry);
    EXPECT_EQ(pread(pages.get(), &entry, sizeof(entry), static_cast<off_t>(at)), sizeof(entry));
    return entry >> 63 != 0;
  };
#ifdef __linux__
  EXPECT_TRUE(resident());
  file->Release(*b);
  EXPECT_FALSE(resident());
#endif
  file->Release(*file->Find("a"));
  EXPECT_EQ(std::to_integer<char>(file->Find("a")->data[0]), 'a');
  EXPECT_TRUE(all_b());
}

TEST_F(SafetensorsTest, DamageIsAnErrorThatNamesTheFile) {
  const auto tensor = [](const std::string& fields) { return "{\"a\":{" + fields + "}}"; };
  const std::vector<absl::StatusOr<SafetensorsFile>> files = [&] {
    std::vector<absl::StatusOr<SafetensorsFile>> all;
    all.push_back(Open("{}", "", 1 << 20));  // header longer than the file
    all.push_back(Open("{}", "", int64_t{1} << 62));
    all.push_back(Open("not json", ""));
    all.push_back(Open("[]", ""));
    all.push_back(Open(R"({"a":1})", ""));
    all.push_back(Open(R"({"__metadata__":{"k":1}})", ""));
    all.push_back(Open(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])"),
                       "1234"));  // beyond the end
    all.push_back(Open(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[4,0])"),
                       "12345678"));  // backwards
    all.push_back(Open(tensor(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"),
                       "12345678"));  // shape and bytes
    all.push_back(Open(tensor(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), "12345678"));
    all.push_back(
        Open(tensor(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8])"),
             "12345678"));
    all.push_back(Open(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[2,6])"),
                       "12345678"));  // not aligned
    all.push_back(Open(tensor(R"("dtype":"F31","shape":[2],"data_offsets":[0,8])"), "12345678"));
    all.push_back(Open(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0])"), "12345678"));
    all.push_back(Open(tensor(R"("dtype":"F32","shape":[2])"), "12345678"));
    all.push_back(Open(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[-8,0])"), "12345678"));
    return all;
  }();
  for (size_t i = 0; i < files.size(); ++i) {
    EXPECT_EQ(files[i].status().code(), absl::StatusCode::kDataLoss) << i;
    EXPECT_NE(files[i].status().message().find("x.safetensors"), std::string::npos)
        << files[i].status();
  }
}

TEST_F(SafetensorsTest, AHeaderOfMoreThanEightMegabytesIsRefused) {
  constexpr size_t kMost = size_t{8} << 20;
  std::string header = "{}";
  header.resize(kMost, ' ');
  EXPECT_TRUE(Open(header, "").ok());
  header.resize(kMost + 8, ' ');
  const auto file = Open(header, "");
  EXPECT_EQ(file.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(file.status().message().find("header too long"), std::string::npos) << file.status();
}

TEST_F(SafetensorsTest, AnEmptyFileAndNoFileAreErrors) {
  std::ofstream(folder_.path() / "empty").close();
  EXPECT_EQ(SafetensorsFile::Open(folder_.path() / "empty").status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(SafetensorsFile::Open(folder_.path() / "none").status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace millrace::models
