#include "models/translation/seq2seq/decoding_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "tests/unit/models/translation/tiny_seq2seq.h"

namespace millrace::models {
namespace {

using Found = std::map<size_t, std::vector<Hypothesis>>;

// Sentences of 1 to 40 random words.
std::vector<std::vector<int32_t>> RandomSources(size_t count) {
  std::mt19937 random(5);
  std::vector<std::vector<int32_t>> sources;
  for (size_t i = 0; i < count; ++i) {
    std::vector<int32_t>& source = sources.emplace_back(1 + random() % 40);
    for (int32_t& word : source) word = static_cast<int32_t>(3 + random() % 57);
    source.push_back(0);
  }
  return sources;
}

class DecodingSessionTest : public ::testing::TestWithParam<std::tuple<int, Precision>> {
 protected:
  DecodingSessionTest()
      : network_(MakeTinyNetwork(TinyKind::kMarian,
                                 LinearKernels::For(std::get<Precision>(GetParam())))) {}

  static int Beam() { return std::get<int>(GetParam()); }

  std::unique_ptr<Search> NewSearch(size_t id) const {
    SearchOptions options;
    options.beam_size = Beam();
    options.hypotheses = Beam();
    SearchTask task = TinyTask(TinyKind::kMarian);
    task.max_words = 5 + id % 14;
    return MakeSearch(options, task);
  }
  DecodingSession::Entry NewEntry(size_t id) const { return {id, sources_[id], NewSearch(id)}; }

  static void Finish(DecodingSession& session, Found& found) {
    while (session.size() > 0) Step(session, found);
  }
  static void Step(DecodingSession& session, Found& found) {
    for (auto& result : session.Step()) found[result.id] = std::move(result.found);
  }
  Found Alone(size_t count) const {
    Found found;
    for (size_t id = 0; id < count; ++id) {
      DecodingSession session(*network_);
      std::vector<DecodingSession::Entry> entries;
      entries.push_back(NewEntry(id));
      session.Join(std::move(entries));
      Finish(session, found);
    }
    return found;
  }

  // To the last bit of the scores.
  static void ExpectSame(const Found& found, const Found& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (const auto& [id, hypotheses] : expected) {
      const auto& other = found.at(id);
      ASSERT_EQ(other.size(), hypotheses.size()) << "sentence " << id;
      for (size_t i = 0; i < hypotheses.size(); ++i) {
        EXPECT_EQ(other[i].words, hypotheses[i].words) << "sentence " << id;
        EXPECT_EQ(other[i].score, hypotheses[i].score) << "sentence " << id;
      }
    }
  }

  const std::vector<std::vector<int32_t>> sources_ = RandomSources(16);
  const std::unique_ptr<const Seq2SeqNetwork> network_;
};

INSTANTIATE_TEST_SUITE_P(Beams, DecodingSessionTest,
                         ::testing::Combine(::testing::Values(1, 4),
                                            ::testing::Values(Precision::kFloat32,
                                                              Precision::kBfloat16,
                                                              Precision::kInt8)));

TEST_P(DecodingSessionTest, CompanyDoesNotChangeWhatIsFound) {
  DecodingSession session(*network_);
  std::vector<DecodingSession::Entry> entries;
  for (size_t id = 0; id < sources_.size(); ++id) entries.push_back(NewEntry(id));
  session.Join(std::move(entries));
  Found found;
  Finish(session, found);
  ExpectSame(found, Alone(sources_.size()));
}

TEST_P(DecodingSessionTest, SentencesJoinWhileOthersAreAtWork) {
  DecodingSession session(*network_);
  Found found;
  for (size_t id = 0; id < sources_.size(); ++id) {
    std::vector<DecodingSession::Entry> entries;
    entries.push_back(NewEntry(id));
    session.Join(std::move(entries));
    Step(session, found);
  }
  EXPECT_GT(session.size(), 0u);
  Finish(session, found);
  ExpectSame(found, Alone(sources_.size()));
}

TEST_P(DecodingSessionTest, SentencesLeaveAndTakeTheirCacheAlong) {
  DecodingSession session(*network_);
  std::vector<DecodingSession::Entry> entries;
  for (size_t id = 0; id < sources_.size(); ++id) entries.push_back(NewEntry(id));
  session.Join(std::move(entries));
  Found found;
  Step(session, found);
  Step(session, found);
  const size_t held = session.cached_words();
  session.Remove([](size_t id) { return id % 2 == 0; });
  EXPECT_LT(session.cached_words(), held);
  Finish(session, found);
  EXPECT_EQ(session.cached_words(), 0u);
  Found expected = Alone(sources_.size());
  std::erase_if(expected, [&](const auto& entry) { return entry.first % 2 == 0; });
  std::erase_if(found, [](const auto& entry) { return entry.first % 2 == 0; });
  ExpectSame(found, expected);
}

TEST_P(DecodingSessionTest, HypothesesShareTheCacheOfTheirBeginning) {
  DecodingSession session(*network_);
  std::vector<DecodingSession::Entry> entries;
  entries.push_back(NewEntry(13));
  session.Join(std::move(entries));
  Found found;
  for (size_t step = 1; step <= 4 && session.size() > 0; ++step) {
    Step(session, found);
    // At most one word of each hypothesis a step, and the first is everyone's.
    EXPECT_LE(session.cached_words(), 1 + (step - 1) * static_cast<size_t>(Beam()));
  }
}

}  // namespace
}  // namespace millrace::models
