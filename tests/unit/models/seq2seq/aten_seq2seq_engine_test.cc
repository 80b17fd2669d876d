#include "models/seq2seq/aten_seq2seq_engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/seq2seq/seq2seq_engine.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/fakes/temporary_folder.h"
#include "tests/unit/models/seq2seq/near_tie.h"
#include "tests/unit/models/seq2seq/tiny_seq2seq.h"

namespace millrace::seq2seq {
namespace {

constexpr int64_t kAmpleBytes = 8 << 20;
// Instruction sets round in orders of their own, which attention that chooses one token of two
// enlarges.
constexpr float kScoreError = 0.01F;

struct SearchCase {
  std::string name;
  translation::SearchOptions options;
  size_t min_target = 0;
};

std::vector<SearchCase> Searches() {
  translation::SearchOptions beam;
  beam.beam_size = 4;
  beam.hypotheses = 3;
  translation::SearchOptions penalised;
  penalised.repetition_penalty = 1.3F;
  penalised.no_repeat_ngram_size = 2;
  translation::SearchOptions sampled;
  sampled.sample = true;
  sampled.seed = 3;
  return {{"greedy", {}},
          {"beam", beam},
          {"penalised", penalised},
          {"sampled", sampled},
          {"at_least", {}, 9}};
}

class AtenSeq2SeqEngineTest : public ::testing::TestWithParam<std::tuple<TinyKind, size_t>> {
 protected:
  AtenSeq2SeqEngineTest()
      : kind_(std::get<0>(GetParam())), search_(Searches()[std::get<1>(GetParam())]) {}

  std::unique_ptr<const translation::TranslationEngine> MakeEngine(
      const bergamot::TinyTensors& tensors, int64_t cache_bytes = kAmpleBytes,
      bool few_shapes = false) const {
    const testing::TemporaryFolder folder;
    const auto file = folder.path() / "weights.safetensors";
    bergamot::WriteSafetensors(file, tensors);
    const auto weights = Seq2SeqWeights::Load(file, TinyConfig(kind_));
    return MakeAtenSeq2SeqEngine(
        *weights, TinyConfig(kind_),
        {.device = runtime::DeviceType::kCpu,
         .model = "tiny",
         .shapes = few_shapes ? models::ShapePolicy::kFew : models::ShapePolicy::kPadded,
         .cache_bytes = cache_bytes});
  }
  std::unique_ptr<const translation::TranslationEngine> MakeEngine() const {
    return MakeEngine(MakeTinySeq2Seq(kind_));
  }
  // Sentences of 1 to 45 random tokens, of different greatest lengths.
  std::vector<translation::SentenceJob> MakeJobs(size_t count) const {
    std::mt19937 random(11);
    std::vector<translation::SentenceJob> jobs;
    for (size_t i = 0; i < count; ++i) {
      translation::SentenceJob& job = jobs.emplace_back();
      job.source.resize(1 + random() % 44);
      for (int32_t& token : job.source) token = static_cast<int32_t>(3 + random() % 55);
      job.source.push_back(TinyConfig(kind_).end);
      if (kind_ == TinyKind::kM2m100) job.prefix = {61};
      job.max_target = 1 + random() % 20;
      job.search = search_.options;
      job.min_target = std::min(search_.min_target, job.max_target);
    }
    return jobs;
  }
  // One that needs the least cache there can be for itself.
  translation::SentenceJob MakeWidest() const {
    translation::SentenceJob job = std::move(MakeJobs(1).front());
    job.source.insert(job.source.begin(), 64 - job.source.size(), 5);
    job.search = {.beam_size = translation::SearchOptions::kMaxBeam};
    job.min_target = 60;
    job.max_target = 63;
    return job;
  }
  void ExpectAsTheCpusOwn(const std::vector<translation::SentenceJob>& jobs) {
    const Seq2SeqEngine own(MakeTinyNetwork(kind_), TinyConfig(kind_), 64);
    std::vector<translation::SentenceJob> expected = MakeJobs(jobs.size());
    for (translation::SentenceJob& job : expected) job.align = true;
    own.Translate(
        expected, [](size_t) { return false; }, context_);
    size_t aligned = 0;
    size_t differ = 0;
    size_t near_ties = 0;
    for (size_t i = 0; i < jobs.size(); ++i) {
      EXPECT_TRUE(jobs[i].done);
      ASSERT_EQ(jobs[i].alignment.size(), jobs[i].align ? jobs[i].target.size() : 0) << i;
      ASSERT_FALSE(jobs[i].found.empty()) << i;
      EXPECT_EQ(jobs[i].target, jobs[i].found.front().tokens) << i;
      if (!std::ranges::equal(jobs[i].found, expected[i].found, {},
                              &translation::Hypothesis::tokens, &translation::Hypothesis::tokens)) {
        ++near_ties;
        EXPECT_TRUE(IsNearTie(*MakeTinyNetwork(kind_), TinyConfig(kind_), jobs[i], expected[i]))
            << "sentence " << i;
        continue;
      }
      for (size_t k = 0; k < jobs[i].alignment.size(); ++k, ++aligned)
        differ += jobs[i].alignment[k] != expected[i].alignment[k];
      for (size_t k = 0; k < jobs[i].found.size(); ++k)
        EXPECT_NEAR(jobs[i].found[k].score, expected[i].found[k].score, kScoreError) << i;
    }
    EXPECT_LE(near_ties, std::max<size_t>(2, jobs.size() / 10));
    // Where two heads look at a place each, their sums are as good as equal.
    EXPECT_LE(differ, std::max<size_t>(2, aligned / 200));
  }

  const TinyKind kind_;
  const SearchCase search_;
  models::FakeWorkerContext context_;
};

TEST_P(AtenSeq2SeqEngineTest, FindsWhatTheCpusOwnEngineFinds) {
  std::vector<translation::SentenceJob> jobs = MakeJobs(60);
  MakeEngine()->Translate(
      jobs, [](size_t) { return false; }, context_);
  ExpectAsTheCpusOwn(jobs);
}

TEST_P(AtenSeq2SeqEngineTest, SentencesThatAskAreAlignedAsTheCpusOwnEngineDoes) {
  std::vector<translation::SentenceJob> jobs = MakeJobs(60);
  for (size_t i = 0; i < jobs.size(); ++i) jobs[i].align = i % 3 != 0;
  for (const bool few_shapes : {false, true}) {
    MakeEngine(MakeTinySeq2Seq(kind_), kAmpleBytes, few_shapes)
        ->Translate(
            jobs, [](size_t) { return false; }, context_);
    ExpectAsTheCpusOwn(jobs);
    jobs = MakeJobs(60);
    for (translation::SentenceJob& job : jobs) job.align = true;
  }
}

TEST_P(AtenSeq2SeqEngineTest, ASuspendedSentenceLeavesItsRoomToOthersAndGoesOn) {
  const auto never = [](size_t) { return false; };
  translation::SentenceJob expected = MakeWidest();
  MakeEngine()->Translate({&expected, 1}, never, context_);
  // Room for it alone.
  const auto engine = MakeEngine(MakeTinySeq2Seq(kind_), 1);
  translation::SentenceJob widest = MakeWidest();
  translation::SentenceJob* const stalled[] = {&widest};
  engine->Advance(stalled, 20, never, context_);
  std::vector<translation::SentenceJob> jobs = MakeJobs(60);
  engine->Translate(jobs, never, context_);
  ASSERT_TRUE(std::ranges::all_of(jobs, &translation::SentenceJob::at_work));
  widest.Suspend();
  const std::vector<int32_t> decided = widest.target;
  engine->Translate(jobs, never, context_);
  ExpectAsTheCpusOwn(jobs);
  EXPECT_EQ(widest.target, decided);
  engine->Advance(stalled, 1000, never, context_);
  EXPECT_TRUE(widest.done);
  EXPECT_EQ(widest.target, expected.target);
}

TEST_P(AtenSeq2SeqEngineTest, NobodyOvertakesASentenceThatNeedsMuchRoom) {
  const auto never = [](size_t) { return false; };
  const auto engine = MakeEngine(MakeTinySeq2Seq(kind_), 1);
  std::vector<translation::SentenceJob> jobs = MakeJobs(20);
  translation::SentenceJob widest = MakeWidest();
  std::vector<translation::SentenceJob*> line;
  for (translation::SentenceJob& job : jobs) line.push_back(&job);
  jobs[0].max_target = 30;
  jobs[0].min_target = 25;
  line.insert(line.begin() + 1, &widest);
  engine->Advance(line, 1, never, context_);
  ASSERT_NE(jobs[0].state, nullptr);
  EXPECT_EQ(widest.state, nullptr);
  for (size_t i = 1; i < jobs.size(); ++i) EXPECT_EQ(jobs[i].state, nullptr);
  // Nor does one of another worker.
  std::vector<translation::SentenceJob> others = MakeJobs(1);
  translation::SentenceJob* const other = others.data();
  engine->Advance({&other, 1}, 1, never, context_);
  EXPECT_EQ(other->state, nullptr);
  engine->Advance(line, 1000, never, context_);
  EXPECT_TRUE(widest.done);
  for (const translation::SentenceJob& job : jobs) EXPECT_TRUE(job.done);
}

TEST_P(AtenSeq2SeqEngineTest, AFailureInTheMiddleChangesNothing) {
  const auto engine = MakeEngine();
  std::vector<translation::SentenceJob> jobs = MakeJobs(12);
  for (translation::SentenceJob& job : jobs) job.align = true;
  std::vector<translation::SentenceJob*> at_work;
  for (translation::SentenceJob& job : jobs) at_work.push_back(&job);
  // In the middle of a step, ever later; at first with sentences that were not encoded.
  int failures = 0;
  for (const int steps : {0, 2, 5, 9}) {
    int left = steps * static_cast<int>(at_work.size()) + 1;
    const auto fail = [&](size_t) {
      if (--left < 0) throw std::runtime_error("out of memory");
      return false;
    };
    try {
      for (int i = 0; i < 100; ++i) engine->Advance(at_work, 1, fail, context_);
    } catch (const std::runtime_error&) {
      ++failures;
    }
    std::erase_if(at_work, [](const translation::SentenceJob* job) { return !job->at_work(); });
    for (translation::SentenceJob* job : at_work) job->Suspend();
  }
  EXPECT_GE(failures, 2);  // some models end their sentences soon
  engine->Advance(
      at_work, 1000, [](size_t) { return false; }, context_);
  ExpectAsTheCpusOwn(jobs);
}

TEST_P(AtenSeq2SeqEngineTest, WhatWasDecidedStaysWhateverTheDeviceSaysAfterAFailure) {
  bergamot::TinyTensors tensors = MakeTinySeq2Seq(kind_);
  const auto never = [](size_t) { return false; };
  bergamot::TinyTensor& query = tensors.at("decoder.1.cross.query.weight");
  std::ranges::fill(query.bytes, '\0');
  const auto other = MakeEngine(tensors);
  std::vector<translation::SentenceJob> jobs = MakeJobs(20);
  std::vector<translation::SentenceJob*> all;
  for (translation::SentenceJob& job : jobs) all.push_back(&job);
  MakeEngine()->Advance(all, 6, never, context_);
  std::vector<translation::SentenceJob> begun = MakeJobs(20);
  std::vector<translation::SentenceJob> anew = MakeJobs(20);
  other->Translate(anew, never, context_);
  size_t differ = 0;
  for (size_t i = 0; i < jobs.size(); ++i) {
    translation::SentenceJob& job = jobs[i];
    if (!job.at_work()) continue;
    job.Suspend();
    const std::vector<int32_t> decided = job.target;
    while (job.at_work()) other->Advance({&all[i], 1}, 2, never, context_);
    const auto begins = [&decided](const std::vector<int32_t>& tokens) {
      return std::ranges::mismatch(decided, tokens).in1 == decided.end();
    };
    EXPECT_TRUE(begins(job.target));
    differ += begins(anew[i].target) ? 0 : 1;
    if (search_.options.beam_size > 1) continue;
    // It goes on as what is made to begin so.
    translation::SentenceJob& forced = begun[i];
    forced.prefix.insert(forced.prefix.end(), decided.begin(), decided.end());
    forced.max_target -= decided.size();
    forced.min_target -= std::min(forced.min_target, decided.size());
    other->Translate({&forced, 1}, never, context_);
    EXPECT_TRUE(std::ranges::equal(forced.target, std::span(job.target).subspan(decided.size())));
  }
  EXPECT_GT(differ, 0u);  // it would have said something else
}

TEST_P(AtenSeq2SeqEngineTest, SentencesJoinAndEndWhileOthersAreAtWork) {
  const auto engine = MakeEngine();
  std::vector<translation::SentenceJob> jobs = MakeJobs(12);
  std::vector<translation::SentenceJob*> at_work;
  size_t next = 0;
  while (next < jobs.size() || !at_work.empty()) {
    if (next < jobs.size()) at_work.push_back(&jobs[next++]);
    std::vector<std::vector<int32_t>> before;
    for (const translation::SentenceJob* job : at_work) before.push_back(job->target);
    engine->Advance(
        at_work, 1 + next % 5, [](size_t) { return false; }, context_);
    for (size_t i = 0; i < at_work.size(); ++i) {
      // Tokens that were decided stay.
      ASSERT_GE(at_work[i]->target.size(), before[i].size());
      EXPECT_TRUE(std::equal(before[i].begin(), before[i].end(), at_work[i]->target.begin()));
    }
    std::erase_if(at_work, [](const translation::SentenceJob* job) { return !job->at_work(); });
  }
  ExpectAsTheCpusOwn(jobs);
}

TEST_P(AtenSeq2SeqEngineTest, AStoppedSentenceLeavesAndTheOthersDoNotNotice) {
  const auto engine = MakeEngine();
  std::vector<translation::SentenceJob> jobs = MakeJobs(40);
  engine->Translate(
      jobs, [](size_t) { return false; }, context_);
  const size_t longest = static_cast<size_t>(
      std::ranges::max_element(
          jobs, {}, [](const translation::SentenceJob& job) { return job.target.size(); }) -
      jobs.begin());
  ASSERT_GT(jobs[longest].target.size(), 8u);
  jobs = MakeJobs(40);
  int asked = 0;
  engine->Translate(
      jobs, [&](size_t i) { return i == longest && ++asked == 2; }, context_);
  EXPECT_TRUE(jobs[longest].stopped);
  EXPECT_FALSE(jobs[longest].done);
  EXPECT_EQ(jobs[longest].state, nullptr);
  std::vector<translation::SentenceJob*> stopped = {&jobs[longest]};
  jobs[longest].Suspend();
  while (jobs[longest].at_work())
    engine->Advance(
        stopped, 3, [](size_t) { return false; }, context_);
  ExpectAsTheCpusOwn(jobs);
}

TEST_P(AtenSeq2SeqEngineTest, FewShapesChangeNothing) {
  std::vector<translation::SentenceJob> jobs = MakeJobs(60);
  MakeEngine(MakeTinySeq2Seq(kind_), kAmpleBytes, true)
      ->Translate(
          jobs, [](size_t) { return false; }, context_);
  ExpectAsTheCpusOwn(jobs);
}

TEST_P(AtenSeq2SeqEngineTest, SentencesWaitForRoomInTheCache) {
  // Room for a sentence of the greatest length with 16 hypotheses, which is far less than all need.
  const auto engine = MakeEngine(MakeTinySeq2Seq(kind_), 1);
  std::vector<translation::SentenceJob> jobs = MakeJobs(60);
  engine->Translate(
      jobs, [](size_t) { return false; }, context_);
  ExpectAsTheCpusOwn(jobs);
}

TEST_P(AtenSeq2SeqEngineTest, ASentenceStoppedAtTheDoorIsNotBegun) {
  std::vector<translation::SentenceJob> jobs = MakeJobs(2);
  MakeEngine()->Translate(
      jobs, [](size_t i) { return i == 0; }, context_);
  EXPECT_TRUE(jobs[0].stopped);
  EXPECT_TRUE(jobs[0].target.empty());
  EXPECT_TRUE(jobs[1].done);
}

TEST_P(AtenSeq2SeqEngineTest, ASentenceMayOutliveItsEngine) {
  std::vector<translation::SentenceJob> jobs = MakeJobs(1);
  translation::SentenceJob* const job = &jobs.front();
  job->max_target = job->min_target = 9;  // so that it does not end at once
  MakeEngine()->Advance(
      {&job, 1}, 1, [](size_t) { return false; }, context_);
  ASSERT_NE(job->state, nullptr);
  job->state.reset();  // AddressSanitizer looks
}

TEST_P(AtenSeq2SeqEngineTest, WeightsThatGiveNoNumbersFail) {
  bergamot::TinyTensors tensors = MakeTinySeq2Seq(kind_);
  tensors.at("decoder.1.ffn.norm.weight") = bergamot::FloatTensor(std::vector<float>(64, NAN));
  std::vector<translation::SentenceJob> jobs = MakeJobs(2);
  EXPECT_THROW(MakeEngine(tensors)->Translate(
                   jobs, [](size_t) { return false; }, context_),
               std::runtime_error);
}

INSTANTIATE_TEST_SUITE_P(All, AtenSeq2SeqEngineTest,
                         ::testing::Combine(::testing::Values(TinyKind::kMarian,
                                                              TinyKind::kMarianTwo,
                                                              TinyKind::kM2m100),
                                            ::testing::Range(size_t{0}, Searches().size())),
                         [](const auto& info) {
                           return NameOf(std::get<0>(info.param)) + "_" +
                                  Searches()[std::get<1>(info.param)].name;
                         });

}  // namespace
}  // namespace millrace::seq2seq
