// Packed weights from one start to the next: what is kept comes back, and nothing else does.

#include "models/weights/pack_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "mps_runtime/base/log_sink.h"
#include "tests/fakes/temporary_folder.h"

namespace millrace::models {
namespace {

using kernels::FindPacked;
using kernels::KeepPacked;
using kernels::PackedArray;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Sizes of all kinds: none, within a page, whole pages, more.
constexpr std::array<size_t, 5> kSizes = {3, 40'000, 0, 16'384, 17};

std::vector<float> Numbers(size_t size) {
  std::vector<float> numbers(size);
  std::iota(numbers.begin(), numbers.end(), static_cast<float>(size) + 0.25F);
  return numbers;
}

std::string* log_lines = nullptr;

class PackFileTest : public ::testing::Test {
 protected:
  PackFileTest() {
    log_lines = &log_;
    SetLogSink([](LogSeverity, std::string_view message) {
      *log_lines += message;
      *log_lines += '\n';
    });
  }
  ~PackFileTest() override {
    SetLogSink(nullptr);
    log_lines = nullptr;
  }

  // A model of these arrays, and how many of them were packed rather than found.
  struct Loaded {
    std::vector<PackedArray<float>> arrays;
    int packed = 0;
  };

  // Loads it with the file, as a process that starts does.
  Loaded Load(const std::string& key = "weights 1", bool commit = true) {
    log_.clear();
    Loaded loaded;
    PackFile file(path_, key);
    const kernels::ScopedPackStore scope(&file);
    for (const size_t size : kSizes) {
      PackedArray<float> array;
      if (!FindPacked(size, array)) {
        array = KeepPacked(Numbers(size));
        ++loaded.packed;
      }
      loaded.arrays.push_back(std::move(array));
    }
    if (commit) file.Commit();
    return loaded;
  }

  static void ExpectWhole(const Loaded& loaded) {
    ASSERT_EQ(loaded.arrays.size(), kSizes.size());
    for (size_t i = 0; i < kSizes.size(); ++i) {
      const PackedArray<float>& array = loaded.arrays[i];
      EXPECT_THAT(std::vector<float>(array.data(), array.data() + array.size()),
                  ElementsAreArray(Numbers(kSizes[i])))
          << i;
    }
  }

  std::vector<std::string> FilesLeft() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      names.push_back(entry.path().filename());
    return names;
  }

  std::string Bytes() const {
    std::ifstream stream(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void Write(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  testing::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "packed.weights";
  std::string log_;
};

constexpr int kAll = static_cast<int>(kSizes.size());

TEST_F(PackFileTest, WhatIsKeptComesBack) {
  const Loaded first = Load();
  EXPECT_EQ(first.packed, kAll);
  ExpectWhole(first);
  EXPECT_THAT(log_, HasSubstr("packed.weights: packed weights are kept, "));
  const Loaded second = Load();
  EXPECT_EQ(second.packed, 0);
  ExpectWhole(second);
  EXPECT_EQ(log_, "");
  for (const PackedArray<float>& array : second.arrays)
    EXPECT_EQ(reinterpret_cast<uintptr_t>(array.data()) % 64, 0U);
  EXPECT_THAT(FilesLeft(), ElementsAreArray({"packed.weights"}));
}

TEST_F(PackFileTest, ArraysOutliveTheFile) {
  ExpectWhole(Load());
  const Loaded found = Load();
  std::filesystem::remove(path_);
  ExpectWhole(found);
}

TEST_F(PackFileTest, AnotherKeyReplacesTheFile) {
  const Loaded first = Load("weights 1");
  EXPECT_EQ(Load("weights 2").packed, kAll);
  EXPECT_THAT(log_, HasSubstr("is of other weights, settings or another program"));
  EXPECT_EQ(Load("weights 2").packed, 0);
  ExpectWhole(first);  // the map of the file that is gone
}

TEST_F(PackFileTest, ADamagedFileIsReplaced) {
  Load();
  const std::string whole = Bytes();
  // Somewhere in the arrays, in the index, in the key and in the footer; not in what no array has.
  for (const size_t at :
       {size_t{64}, size_t{70'000}, whole.size() - 60, whole.size() - 50, whole.size() - 40,
        whole.size() - 32, whole.size() - 20, whole.size() - 1}) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    Write(damaged);
    const Loaded loaded = Load();
    EXPECT_EQ(loaded.packed, kAll) << at;
    EXPECT_NE(log_, "");
    ExpectWhole(loaded);
    EXPECT_EQ(Load().packed, 0) << at;
  }
}

TEST_F(PackFileTest, AFileWithoutItsEndIsReplaced) {
  Load();
  const std::string whole = Bytes();
  for (const size_t size :
       {size_t{0}, size_t{16}, size_t{17}, size_t{100'000}, whole.size() - 40, whole.size() - 1}) {
    Write(whole.substr(0, size));
    EXPECT_EQ(Load().packed, kAll) << size;
    EXPECT_EQ(Load().packed, 0) << size;
  }
  Write(whole + "more");
  EXPECT_EQ(Load().packed, kAll);
}

TEST_F(PackFileTest, AForeignFileIsLeftAlone) {
  Write("photographs of last summer");
  const Loaded loaded = Load();
  EXPECT_EQ(loaded.packed, kAll);
  ExpectWhole(loaded);
  EXPECT_THAT(log_, HasSubstr("packed.weights: is no file of packed weights"));
  EXPECT_EQ(Bytes(), "photographs of last summer");
  EXPECT_THAT(FilesLeft(), ElementsAreArray({"packed.weights"}));
}

TEST_F(PackFileTest, OtherArraysThanWantedRemoveTheFile) {
  Load();
  {
    PackFile file(path_, "weights 1");
    const kernels::ScopedPackStore scope(&file);
    PackedArray<float> array;
    EXPECT_TRUE(FindPacked(kSizes[0], array));
    EXPECT_FALSE(FindPacked(kSizes[1] + 1, array));
    EXPECT_FALSE(FindPacked(kSizes[2], array));
    file.Commit();
  }
  EXPECT_THAT(log_, HasSubstr("has other arrays than this model"));
  EXPECT_THAT(FilesLeft(), IsEmpty());
  EXPECT_EQ(Load().packed, kAll);
}

TEST_F(PackFileTest, NothingIsLeftOfAModelThatDidNotLoad) {
  ExpectWhole(Load("weights 1", /*commit=*/false));
  EXPECT_THAT(FilesLeft(), IsEmpty());
}

TEST_F(PackFileTest, WhatACrashLeftIsOverwritten) {
  std::ofstream(path_.string() + ".new") << std::string(2'000'000, 'x');
  EXPECT_EQ(Load().packed, kAll);
  EXPECT_EQ(Load().packed, 0);
  EXPECT_THAT(FilesLeft(), ElementsAreArray({"packed.weights"}));
}

TEST_F(PackFileTest, OneProcessWritesAtATime) {
  const std::string new_path = path_.string() + ".new";
  {
    FileDescriptor other(open(new_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    ASSERT_EQ(flock(other.get(), LOCK_EX | LOCK_NB), 0);
    const Loaded loaded = Load();
    EXPECT_EQ(loaded.packed, kAll);
    ExpectWhole(loaded);
    EXPECT_THAT(log_, HasSubstr("packed weights are not kept: another process writes"));
    EXPECT_THAT(FilesLeft(), ElementsAreArray({"packed.weights.new"}));
  }
  EXPECT_EQ(Load().packed, kAll);
  EXPECT_EQ(Load().packed, 0);
}

TEST_F(PackFileTest, AFolderThatCannotBeWrittenIsNoError) {
  std::filesystem::create_directory(path_.string() + ".new");
  const Loaded loaded = Load();
  EXPECT_EQ(loaded.packed, kAll);
  ExpectWhole(loaded);
  EXPECT_THAT(log_, HasSubstr("packed weights are not kept: "));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

// A limit of this process stands for the disk's.
TEST_F(PackFileTest, AFullDiskIsNoError) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto signal_before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 150'000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Loaded loaded = Load();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, signal_before);
  EXPECT_EQ(loaded.packed, kAll);
  ExpectWhole(loaded);
  EXPECT_THAT(log_, HasSubstr("packed weights are not kept: File too large"));
  EXPECT_THAT(FilesLeft(), IsEmpty());
}

}  // namespace
}  // namespace millrace::models
