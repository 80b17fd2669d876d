#include "models/bergamot/bergamot_engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "models/bergamot/aten_engine.h"
#include "models/bergamot/bergamot_weights.h"
#include "models/bergamot/int8_engine.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/fakes/temporary_folder.h"
#include "tests/unit/models/bergamot/tiny_model.h"

namespace millrace::bergamot {
namespace {

bool Never(size_t) { return false; }

// "aten" or the name of a set of kernels.
std::vector<std::string> EngineNames() {
  std::vector<std::string> names = {"aten"};
  for (const kernels::IntegerKernels* kernels : kernels::SupportedIntegerKernels()) {
    names.emplace_back(kernels->name);
  }
  return names;
}

std::unique_ptr<const translation::TranslationEngine> MakeEngine(const std::string& name,
                                                                 const BergamotWeights& weights) {
  for (const kernels::IntegerKernels* kernels : kernels::SupportedIntegerKernels()) {
    if (kernels->name == name) return MakeInt8Engine(weights, *kernels);
  }
  return MakeAtenEngine(weights, runtime::DeviceType::kCpu);
}

// An engine over the tiny random model, whose translations go on until they are cut more often than
// not.
class TranslationEngineTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { Load(MakeTinyTensors(3)); }

  void Load(const TinyTensors& tensors) {
    const testing::TemporaryFolder folder;
    const auto file = folder.path() / "weights.safetensors";
    WriteSafetensors(file, tensors);
    auto loaded = BergamotWeights::Load(file);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    engine_.reset();
    weights_ = *std::move(loaded);
    engine_ = MakeEngine(GetParam(), *weights_);
  }

  // Sentences of 1 to 40 random tokens.
  static std::vector<translation::SentenceJob> RandomJobs(size_t count) {
    std::mt19937 random(9);
    std::vector<translation::SentenceJob> jobs;
    for (size_t i = 0; i < count; ++i) {
      std::vector<int32_t> tokens(1 + random() % 40);
      for (int32_t& token : tokens) token = static_cast<int32_t>(1 + random() % (kTinyTokens - 1));
      jobs.push_back(MakeSentenceJob(std::move(tokens), 1.5F));
    }
    return jobs;
  }

  std::vector<translation::SentenceJob> TranslateOneByOne(
      std::vector<translation::SentenceJob> jobs) {
    for (translation::SentenceJob& job : jobs) engine_->Translate({&job, 1}, Never, context_);
    return jobs;
  }

  std::unique_ptr<const BergamotWeights> weights_;
  std::unique_ptr<const translation::TranslationEngine> engine_;
  models::FakeWorkerContext context_;
};

INSTANTIATE_TEST_SUITE_P(All, TranslationEngineTest, ::testing::ValuesIn(EngineNames()),
                         [](const auto& info) { return info.param; });

TEST_P(TranslationEngineTest, CompanyDoesNotChangeATranslation) {
  constexpr size_t kSentences = 24;
  const auto alone = TranslateOneByOne(RandomJobs(kSentences));
  for (const size_t batch_size : {size_t{2}, size_t{7}, kSentences}) {
    auto jobs = RandomJobs(kSentences);
    for (size_t first = 0; first < jobs.size(); first += batch_size) {
      const size_t count = std::min(batch_size, jobs.size() - first);
      engine_->Translate({&jobs[first], count}, Never, context_);
    }
    for (size_t i = 0; i < jobs.size(); ++i) {
      ASSERT_EQ(jobs[i].target, alone[i].target)
          << "sentence " << i << ", batches of " << batch_size;
    }
  }
}

TEST_P(TranslationEngineTest, AnAlignmentHasATokenOfTheSourceForEachOfTheTarget) {
  const auto plain = TranslateOneByOne(RandomJobs(12));
  auto jobs = RandomJobs(12);
  for (translation::SentenceJob& job : jobs) job.align = true;
  engine_->Translate(jobs, Never, context_);
  size_t distinct = 0;
  for (size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_EQ(jobs[i].target, plain[i].target);
    EXPECT_TRUE(plain[i].alignment.empty());
    if (GetParam() == "aten") continue;  // cannot tell
    ASSERT_EQ(jobs[i].alignment.size(), jobs[i].target.size());
    for (const int32_t token : jobs[i].alignment) {
      EXPECT_GE(token, 0);
      EXPECT_LT(static_cast<size_t>(token), jobs[i].source.size());
      distinct += token != jobs[i].alignment.front() ? 1 : 0;
    }
  }
  EXPECT_EQ(distinct > 0, GetParam() != "aten");
}

TEST_P(TranslationEngineTest, SentencesJoinAndLeaveBetweenCalls) {
  const auto alone = TranslateOneByOne(RandomJobs(24));
  auto jobs = RandomJobs(24);
  std::mt19937 random(4);
  std::vector<size_t> lengths(jobs.size());
  for (size_t joined = 1;; joined = std::min(joined + 2, jobs.size())) {
    // Some of those that have joined, in any order.
    std::vector<translation::SentenceJob*> some;
    for (size_t i = 0; i < joined; ++i) {
      if (jobs[i].at_work() && random() % 4 != 0) some.push_back(&jobs[i]);
    }
    std::ranges::shuffle(some, random);
    engine_->Advance(some, 1 + random() % 3, Never, context_);
    for (size_t i = 0; i < jobs.size(); ++i) {
      EXPECT_GE(jobs[i].target.size(), lengths[i]);
      lengths[i] = jobs[i].target.size();
    }
    if (std::ranges::all_of(jobs, &translation::SentenceJob::done)) break;
  }
  for (size_t i = 0; i < jobs.size(); ++i) ASSERT_EQ(jobs[i].target, alone[i].target) << i;
}

TEST_P(TranslationEngineTest, ASuspendedSentenceComesToTheSameTokens) {
  const auto alone = TranslateOneByOne(RandomJobs(6));
  auto jobs = RandomJobs(6);
  std::vector<translation::SentenceJob*> all;
  for (translation::SentenceJob& job : jobs) all.push_back(&job);
  engine_->Advance(all, 2, Never, context_);
  for (translation::SentenceJob& job : jobs) {
    if (job.at_work()) job.Suspend();
    EXPECT_EQ(job.state, nullptr);
  }
  engine_->Translate(jobs, Never, context_);
  for (size_t i = 0; i < jobs.size(); ++i) EXPECT_EQ(jobs[i].target, alone[i].target) << i;
}

TEST_P(TranslationEngineTest, TranslatesAsFloat32Does) {
  const auto expected = [&] {
    auto jobs = RandomJobs(20);
    MakeAtenEngine(*weights_, runtime::DeviceType::kCpu)->Translate(jobs, Never, context_);
    return jobs;
  }();
  const auto jobs = TranslateOneByOne(RandomJobs(20));
  size_t same = 0;
  for (size_t i = 0; i < jobs.size(); ++i) same += jobs[i].target == expected[i].target;
  // Two near ties are allowed for: 16-bit activations are not quite float32.
  EXPECT_GE(same, jobs.size() - 2);
}

TEST_P(TranslationEngineTest, ASourceOfItsOwnVocabularyIsTranslatedAsInTheSharedOne) {
  constexpr int32_t kExtra = 30;  // tokens that only the source has, between its first and others
  const auto expected = TranslateOneByOne(RandomJobs(20));
  std::vector<int32_t> rows = {BergamotWeights::kEndOfSentence};
  rows.resize(1 + kExtra, 5);
  for (int32_t token = kTinyTokens - 1; token > 0; --token) rows.push_back(token);
  TinyTensors tensors = MakeTinyTensors(3);
  SplitVocabulary(rows, tensors);
  Load(tensors);
  EXPECT_EQ(weights_->source_tokens(), kTinyTokens + kExtra);
  EXPECT_EQ(weights_->target_tokens(), kTinyTokens);
  auto jobs = RandomJobs(20);
  for (translation::SentenceJob& job : jobs) {
    for (int32_t& token : job.source) {
      if (token != BergamotWeights::kEndOfSentence) token = kExtra + kTinyTokens - token;
    }
  }
  jobs = TranslateOneByOne(std::move(jobs));
  size_t tokens = 0;
  for (size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_EQ(jobs[i].target, expected[i].target) << i;
    tokens += jobs[i].target.size();
  }
  EXPECT_GT(tokens, 0u);
}

TEST_P(TranslationEngineTest, ATranslationUsesTheShortlistAndIsCutAtItsLength) {
  auto jobs = RandomJobs(20);
  engine_->Translate(jobs, Never, context_);
  size_t longest = 0;
  for (const translation::SentenceJob& job : jobs) {
    EXPECT_FALSE(job.stopped);
    EXPECT_LE(job.target.size(), job.max_target);
    EXPECT_EQ(std::ranges::count(job.target, BergamotWeights::kEndOfSentence), 0);
    longest = std::max(longest, job.target.size());
  }
  EXPECT_GT(longest, 0u);
}

TEST_P(TranslationEngineTest, AJobThatShouldStopLeavesWithinOneStep) {
  auto jobs = RandomJobs(8);
  const auto undisturbed = TranslateOneByOne(RandomJobs(8));
  // The job with the longest translation is told to stop the third time it asks.
  const auto longest = std::ranges::max_element(
      undisturbed, {}, [](const translation::SentenceJob& job) { return job.target.size(); });
  const auto victim = static_cast<size_t>(longest - undisturbed.begin());
  ASSERT_GT(longest->target.size(), 5u);
  std::vector<size_t> asked(jobs.size());
  const auto stop = [&](size_t job) { return ++asked[job] >= 3 && job == victim; };
  engine_->Translate(jobs, stop, context_);
  EXPECT_TRUE(jobs[victim].stopped);
  EXPECT_EQ(asked[victim], 3u);
  EXPECT_EQ(jobs[victim].target.size(), 2u);
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (i == victim) continue;
    EXPECT_EQ(jobs[i].target, undisturbed[i].target);
  }
}

TEST_P(TranslationEngineTest, WhenAllStopAtOnceNothingIsDecoded) {
  auto jobs = RandomJobs(5);
  engine_->Translate(
      jobs, [](size_t) { return true; }, context_);
  for (const translation::SentenceJob& job : jobs) {
    EXPECT_TRUE(job.stopped);
    EXPECT_TRUE(job.target.empty());
  }
}

TEST_P(TranslationEngineTest, NoSentencesAreNoWork) { engine_->Translate({}, Never, context_); }

TEST_P(TranslationEngineTest, ALongSentenceGoesBeyondTheKeptPositions) {
  translation::SentenceJob job = MakeSentenceJob(std::vector<int32_t>(600, 5), 1.0F);
  const size_t most = job.max_target;
  engine_->Translate({&job, 1}, Never, context_);
  EXPECT_LE(job.target.size(), most);
}

}  // namespace
}  // namespace millrace::bergamot
