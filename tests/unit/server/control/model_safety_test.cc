#include "server/control/model_safety.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "models/repository/package_digest.h"
#include "tests/fakes/temporary_folder.h"

namespace millrace::server {
namespace {

namespace fs = std::filesystem;
using models::ModelRepository;
using runtime::DeviceFacts;
using runtime::SafetyProfile;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kPolicy = 2;

// A device whose policy is 2 and which could use all streams, as the GPU of a Mac.
DeviceFacts Mac() {
  DeviceFacts facts;
  facts.provenance.device = "mps";
  facts.provenance.device_name = "Apple M4";
  facts.provenance.libtorch_version = "2.15.0";
  facts.provenance.libtorch_git_revision = "abc";
  facts.policy_concurrency = kPolicy;
  facts.useful_concurrency = runtime::kWorkerSlots;
  return facts;
}

std::vector<runtime::RunCounts> Survived(int threads) {
  std::vector<runtime::RunCounts> runs;
  for (int n = 1; n <= threads; ++n) runs.push_back({.threads = n, .ok = 1});
  return runs;
}

class ModelSafetyTest : public ::testing::Test {
 protected:
  ModelSafetyTest() {
    AddModel("voice", "weights");
    profile_.key = runtime::KeyOf(Mac().provenance);
    profile_.operators = {{.name = "linear", .safe_concurrency = 8, .runs = Survived(8)}};
  }

  void AddModel(const std::string& name, const std::string& weights) {
    const fs::path folder = root_.path() / name / "1";
    fs::create_directories(folder);
    std::ofstream(folder / "model.pt") << weights;
    std::ofstream(folder / models::kModelConfigFile)
        << "torchscript { file: 'model.pt'\n"
           "  inputs { name: 'I' datatype: 'FP32' shape: 4 }\n"
           "  outputs { name: 'O' datatype: 'FP32' shape: 4 } }\n";
  }
  ModelRepository::Package PackageOf(const std::string& name) const {
    return *ModelRepository(root_.path(), {}).Find(name);
  }
  // As it is on disk now.
  void Cover(const std::string& name, int safe) {
    profile_.models.push_back({.name = name,
                               .version = 1,
                               .sha256 = *models::DigestOf(PackageOf(name)),
                               .safe_concurrency = safe,
                               .runs = Survived(std::max(safe, 1))});
  }
  fs::path file() const { return root_.path() / "safety-profile.json"; }
  ModelSafety Open(bool named = false) {
    warnings_.clear();
    return ModelSafety(
        {.file = file(), .file_was_named = named, .models = root_.path(), .operators = {"linear"}},
        [this](const std::string& line) { warnings_.push_back(line); });
  }
  std::optional<int> Measured() {
    WriteSafetyProfile(profile_, file());
    return Open().Measured(Mac());
  }

  const testing::TemporaryFolder root_;
  SafetyProfile profile_;
  std::vector<std::string> warnings_;
};

TEST_F(ModelSafetyTest, LeastOfOperatorsAndModels) {
  Cover("voice", 6);
  EXPECT_EQ(Measured(), 6);
  profile_.operators[0].safe_concurrency = 3;
  EXPECT_EQ(Measured(), 3);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(ModelSafetyTest, ModelThatIsNotServedDoesNotCount) {
  Cover("voice", 6);
  profile_.models.push_back({.name = "gone",
                             .version = 1,
                             .sha256 = std::string(64, '0'),
                             .safe_concurrency = 1,
                             .runs = Survived(1)});
  EXPECT_EQ(Measured(), 6);
}

TEST_F(ModelSafetyTest, NoFileIsNoWord) {
  EXPECT_EQ(Open().Measured(Mac()), std::nullopt);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(ModelSafetyTest, NamedFileThatIsMissingIsWarnedOf) {
  EXPECT_EQ(Open(/*named=*/true).Measured(Mac()), std::nullopt);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr(file().string() + ": cannot be read")));
}

TEST_F(ModelSafetyTest, BrokenFileIsWarnedOfAndIgnored) {
  std::ofstream(file()) << "{";
  EXPECT_EQ(Open().Measured(Mac()), std::nullopt);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr(file().string() + ": is not JSON")));
  fs::remove(file());
  fs::create_directory(file());
  EXPECT_EQ(Open().Measured(Mac()), std::nullopt);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("is not a file")));
}

TEST_F(ModelSafetyTest, ProfileOfAnotherMachineIsWarnedOfAndIgnored) {
  Cover("voice", 6);
  profile_.key.libtorch_version = "2.16.0";
  EXPECT_EQ(Measured(), std::nullopt);
  EXPECT_THAT(warnings_,
              ElementsAre(HasSubstr("libtorch_version is '2.16.0', here it is '2.15.0'")));
}

// A measurement with a lock around the host's side says nothing of forwards without it.
TEST_F(ModelSafetyTest, ProfileOfAnotherModeIsIgnoredButForSerial) {
  using runtime::ForwardMode;
  Cover("voice", 6);
  WriteSafetyProfile(profile_, file());
  DeviceFacts facts = Mac();
  facts.default_mode = ForwardMode::kEncodeLock;
  facts.mode = ForwardMode::kParallel;
  EXPECT_EQ(Open().Measured(facts), std::nullopt);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("in mode encode-lock, here it is parallel")));
  for (const ForwardMode mode : {ForwardMode::kEncodeLock, ForwardMode::kSerial}) {
    facts.mode = mode;
    EXPECT_EQ(Open().Measured(facts), 6);
  }
}

TEST_F(ModelSafetyTest, NewModelCountsWithThePolicyAndIsNamed) {
  Cover("voice", 6);
  AddModel("new", "x");
  EXPECT_EQ(Measured(), kPolicy);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("model new is not covered: counts as 2")));
}

TEST_F(ModelSafetyTest, ChangedModelCountsWithThePolicyAndIsNamed) {
  Cover("voice", 6);
  AddModel("voice", "other weights");
  EXPECT_EQ(Measured(), kPolicy);
  EXPECT_THAT(warnings_, ElementsAre(AllOf(HasSubstr("model voice version 1 is not the one"),
                                           HasSubstr("counts as 2"))));
}

TEST_F(ModelSafetyTest, OperatorThatWasNotMeasuredCountsWithThePolicy) {
  Cover("voice", 6);
  profile_.operators[0].name = "matmul";
  EXPECT_EQ(Measured(), kPolicy);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("operator linear is not covered: counts as 2")));
}

TEST_F(ModelSafetyTest, WhatDidNotSurviveAloneCountsAsOne) {
  Cover("voice", 0);
  EXPECT_EQ(Measured(), 1);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("model voice did not even survive alone")));
}

TEST_F(ModelSafetyTest, ModelLoadedLaterMustSurviveThePermitsInForce) {
  Cover("voice", 6);
  AddModel("weak", "x");
  Cover("weak", 3);
  fs::rename(root_.path() / "weak", root_.path() / ".weak");
  WriteSafetyProfile(profile_, file());
  ModelSafety safety = Open();
  ASSERT_EQ(safety.Measured(Mac()), 6);
  fs::rename(root_.path() / ".weak", root_.path() / "weak");
  EXPECT_TRUE(safety.Check(PackageOf("voice"), 6).ok());
  EXPECT_TRUE(safety.Check(PackageOf("weak"), 3).ok());
  const absl::Status refused = safety.Check(PackageOf("weak"), 4);
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("model 'weak': 4 forwards at once"), HasSubstr(file().string()),
                    HasSubstr("survives 3 at once")));
}

TEST_F(ModelSafetyTest, ModelReplacedAfterTheStartIsNotTakenForTheOld) {
  Cover("voice", 6);
  WriteSafetyProfile(profile_, file());
  ModelSafety safety = Open();
  ASSERT_EQ(safety.Measured(Mac()), 6);
  ASSERT_TRUE(safety.Check(PackageOf("voice"), 6).ok());
  AddModel("voice", "other weights");
  EXPECT_THAT(std::string(safety.Check(PackageOf("voice"), 6).message()),
              HasSubstr("is not the one that was measured: counts as 2"));
  EXPECT_TRUE(safety.Check(PackageOf("voice"), kPolicy).ok());
}

TEST_F(ModelSafetyTest, WithoutAProfileNothingIsRefused) {
  ModelSafety safety = Open();
  safety.Measured(Mac());
  EXPECT_TRUE(safety.Check(PackageOf("voice"), 31).ok());
}

}  // namespace
}  // namespace millrace::server
