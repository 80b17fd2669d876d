#include "models/seq2seq/sentence_decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "tests/unit/models/seq2seq/tiny_seq2seq.h"

namespace millrace::seq2seq {
namespace {

using Found = std::map<size_t, std::vector<translation::Hypothesis>>;

// Sentences of 1 to 40 random tokens.
std::vector<std::vector<int32_t>> RandomSources(size_t count) {
  std::mt19937 random(5);
  std::vector<std::vector<int32_t>> sources;
  for (size_t i = 0; i < count; ++i) {
    std::vector<int32_t>& source = sources.emplace_back(1 + random() % 40);
    for (int32_t& token : source) token = static_cast<int32_t>(3 + random() % 57);
    source.push_back(0);
  }
  return sources;
}

// Sentences that are decoded together, each until its search is over.
class Session {
 public:
  explicit Session(SentenceDecoder& decoder) : decoder_(decoder) {}

  void Join(size_t id, SentenceDecoder::Entry entry) {
    std::vector<SentenceDecoder::Entry> entries;
    entries.push_back(std::move(entry));
    sentences_[id] = std::move(decoder_.Begin(std::move(entries), scratch_).front());
  }
  void Step(Found& found) {
    std::vector<SentenceDecoding*> all;
    for (const auto& [id, sentence] : sentences_) all.push_back(sentence.get());
    decoder_.Step(all, scratch_);
    std::erase_if(sentences_, [&](const auto& entry) {
      if (entry.second->over()) found[entry.first] = entry.second->search().Found();
      return entry.second->over();
    });
  }
  void Finish(Found& found) {
    while (!sentences_.empty()) Step(found);
  }
  size_t cached_tokens() const {
    size_t tokens = 0;
    for (const auto& [id, sentence] : sentences_) tokens += sentence->cached_tokens();
    return tokens;
  }
  std::map<size_t, std::unique_ptr<SentenceDecoding>>& sentences() { return sentences_; }

 private:
  SentenceDecoder& decoder_;
  DecodingScratch scratch_;
  std::map<size_t, std::unique_ptr<SentenceDecoding>> sentences_;
};

class SentenceDecoderTest : public ::testing::TestWithParam<std::tuple<int, kernels::Precision>> {
 protected:
  SentenceDecoderTest()
      : network_(MakeTinyNetwork(TinyKind::kMarian, kernels::LinearKernels::For(
                                                        std::get<kernels::Precision>(GetParam())))),
        decoder_(*network_) {}

  static int Beam() { return std::get<int>(GetParam()); }

  std::unique_ptr<translation::Search> NewSearch(size_t id) const {
    translation::SearchOptions options;
    options.beam_size = Beam();
    options.hypotheses = Beam();
    translation::SearchTask task = TinyTask(TinyKind::kMarian);
    task.max_tokens = 5 + id % 14;
    return translation::MakeSearch(options, task);
  }
  SentenceDecoder::Entry NewEntry(size_t id) const { return {sources_[id], NewSearch(id)}; }

  Found Alone(size_t count) {
    Found found;
    for (size_t id = 0; id < count; ++id) {
      Session session(decoder_);
      session.Join(id, NewEntry(id));
      session.Finish(found);
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
        EXPECT_EQ(other[i].tokens, hypotheses[i].tokens) << "sentence " << id;
        EXPECT_EQ(other[i].score, hypotheses[i].score) << "sentence " << id;
      }
    }
  }

  const std::vector<std::vector<int32_t>> sources_ = RandomSources(16);
  const std::unique_ptr<const Seq2SeqNetwork> network_;
  SentenceDecoder decoder_;
};

INSTANTIATE_TEST_SUITE_P(Beams, SentenceDecoderTest,
                         ::testing::Combine(::testing::Values(1, 4),
                                            ::testing::Values(kernels::Precision::kFloat32,
                                                              kernels::Precision::kBfloat16,
                                                              kernels::Precision::kInt8)));

TEST_P(SentenceDecoderTest, CompanyDoesNotChangeWhatIsFound) {
  Session session(decoder_);
  for (size_t id = 0; id < sources_.size(); ++id) session.Join(id, NewEntry(id));
  Found found;
  session.Finish(found);
  ExpectSame(found, Alone(sources_.size()));
}

TEST_P(SentenceDecoderTest, SourcesThatAreEncodedTogetherAreEncodedAsAlone) {
  std::vector<SentenceDecoder::Entry> entries;
  for (size_t id = 0; id < sources_.size(); ++id) entries.push_back(NewEntry(id));
  DecodingScratch scratch;
  auto begun = decoder_.Begin(std::move(entries), scratch);
  ASSERT_EQ(begun.size(), sources_.size());
  Session session(decoder_);
  for (size_t id = 0; id < begun.size(); ++id) session.sentences()[id] = std::move(begun[id]);
  Found found;
  session.Finish(found);
  ExpectSame(found, Alone(sources_.size()));
}

TEST_P(SentenceDecoderTest, SentencesJoinWhileOthersAreAtWork) {
  Session session(decoder_);
  Found found;
  for (size_t id = 0; id < sources_.size(); ++id) {
    session.Join(id, NewEntry(id));
    session.Step(found);
  }
  EXPECT_FALSE(session.sentences().empty());
  session.Finish(found);
  ExpectSame(found, Alone(sources_.size()));
}

TEST_P(SentenceDecoderTest, SentencesMayLeaveAndBeLeftOutOfSteps) {
  Session all(decoder_);
  for (size_t id = 0; id < sources_.size(); ++id) all.Join(id, NewEntry(id));
  Found found;
  all.Step(found);
  all.Step(found);
  Session others(decoder_);
  for (size_t id = 1; id < sources_.size(); id += 2) {
    auto sentence = all.sentences().extract(id);
    if (!sentence.empty()) others.sentences().insert(std::move(sentence));
  }
  all.sentences().clear();  // the others take what they cached
  others.Finish(found);
  Found expected = Alone(sources_.size());
  std::erase_if(expected, [&](const auto& entry) { return entry.first % 2 == 0; });
  std::erase_if(found, [](const auto& entry) { return entry.first % 2 == 0; });
  ExpectSame(found, expected);
}

TEST_P(SentenceDecoderTest, WhatIsDecidedIsWhatWillBeFound) {
  Session session(decoder_);
  for (size_t id = 0; id < sources_.size(); ++id) session.Join(id, NewEntry(id));
  const Found expected = Alone(sources_.size());
  Found found;
  size_t decided_tokens = 0;
  std::map<size_t, size_t> before;
  while (!session.sentences().empty()) {
    session.Step(found);
    for (const auto& [id, sentence] : session.sentences()) {
      const auto decided = sentence->search().Decided();
      const std::vector<int32_t>& tokens = expected.at(id).front().tokens;
      ASSERT_LE(decided.size(), tokens.size());
      EXPECT_TRUE(std::ranges::equal(decided, std::span(tokens).first(decided.size())));
      EXPECT_GE(decided.size(), before[id]);
      before[id] = decided.size();
      decided_tokens += decided.size();
    }
  }
  EXPECT_GT(decided_tokens, 0u);
}

TEST_P(SentenceDecoderTest, HypothesesShareTheCacheOfTheirBeginning) {
  Session session(decoder_);
  session.Join(13, NewEntry(13));
  Found found;
  for (size_t step = 1; step <= 4 && !session.sentences().empty(); ++step) {
    session.Step(found);
    // At most one token of each hypothesis a step, and the first is everyone's.
    EXPECT_LE(session.cached_tokens(), 1 + (step - 1) * static_cast<size_t>(Beam()));
  }
}

// Aligned at once as it would be token by token: later tokens change nothing.
TEST(FloatDecoderAlignTest, ATokensAlignmentDependsOnlyOnThoseBeforeIt) {
  const auto network = MakeTinyNetwork(TinyKind::kMarian);
  LayerScratch scratch;
  const std::vector<int32_t> source = {9, 14, 33, 21, 5, 40, 0};
  const std::vector<SourceMemory> memories =
      network->encoder().Encode(std::vector<std::span<const int32_t>>{source}, scratch);
  const std::vector<int32_t> tokens = {TinyTask(TinyKind::kMarian).start, 7, 30, 8, 44, 12, 51, 9};
  const std::vector<int32_t> whole = network->decoder().Align(tokens, memories.front(), scratch);
  ASSERT_EQ(whole.size(), tokens.size());
  for (size_t count = 1; count < tokens.size(); ++count) {
    const auto part =
        network->decoder().Align(std::span(tokens).first(count), memories.front(), scratch);
    EXPECT_EQ(part, std::vector<int32_t>(whole.begin(), whole.begin() + count));
  }
  for (const int32_t token : whole) {
    EXPECT_GE(token, 0);
    EXPECT_LT(static_cast<size_t>(token), source.size());
  }
  EXPECT_NE(std::ranges::count(whole, whole.front()), static_cast<ptrdiff_t>(whole.size()));
}

}  // namespace
}  // namespace millrace::seq2seq
