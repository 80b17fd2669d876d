#include "models/seq2seq/aten/cached_transformer.h"

#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "models/seq2seq/seq2seq_engine.h"
#include "models/seq2seq/upload_weights.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/fakes/temporary_folder.h"
#include "tests/unit/models/seq2seq/tiny_seq2seq.h"

namespace millrace::seq2seq {
namespace {

using Words = std::vector<int32_t>;

constexpr size_t kSlots = 16384;
constexpr size_t kTargetWords = 18;
// By how much the score of the likeliest word may lead that of another that is as likely: where
// random weights attend to one word of two, the least rounding, which every instruction set does in
// its own order, moves scores by hundredths.
constexpr float kNearTie = 0.05F;

// Sources of 1 to 45 random words.
std::vector<Words> RandomSources(size_t count) {
  std::mt19937 random(7);
  std::vector<Words> sources;
  for (size_t i = 0; i < count; ++i) {
    Words& source = sources.emplace_back(1 + random() % 44);
    for (int32_t& word : source) word = static_cast<int32_t>(3 + random() % 55);
    source.push_back(0);
  }
  return sources;
}

class CachedTransformerTest : public ::testing::TestWithParam<TinyKind> {
 protected:
  CachedTransformerTest() : cached_(Upload(), kSlots, "tiny", /*few_shapes=*/false) {}

  static TransformerWeights Upload(
      const bergamot::TinyTensors& tensors = MakeTinySeq2Seq(GetParam())) {
    const testing::TemporaryFolder folder;
    const auto file = folder.path() / "weights.safetensors";
    bergamot::WriteSafetensors(file, tensors);
    const auto weights = Seq2SeqWeights::Load(file, TinyConfig(GetParam()));
    return UploadWeights(*weights, TinyConfig(GetParam()), runtime::DeviceType::kCpu);
  }

  struct Sentence {
    Words source_slots, slots, history;
  };
  // Sources that were encoded, the first word of each translation being the start.
  std::vector<Sentence> Begin(const std::vector<Words>& sources) {
    std::vector<Sentence> sentences;
    std::vector<CachedTransformer::Source> encode;
    for (const Words& source : sources) {
      sentences.push_back({cached_.slots()->Take(source.size(), this),
                           cached_.slots()->Take(kTargetWords + 1, this),
                           {TinyTask(GetParam()).start}});
    }
    for (size_t i = 0; i < sources.size(); ++i)
      encode.push_back({sources[i], sentences[i].source_slots});
    cached_.Encode(encode, context_);
    return sentences;
  }
  static CachedTransformer::Row RowOf(const Sentence& sentence) {
    return {.word = sentence.history.back(),
            .position = sentence.history.size() - 1,
            .path = sentence.slots,
            .source = sentence.source_slots,
            .forced = {}};
  }
  // The likeliest words, an end and what follows it included.
  std::vector<Words> Translate(const std::vector<Words>& sources, size_t words_at_once) {
    std::vector<Sentence> sentences = Begin(sources);
    while (sentences.front().history.size() <= kTargetWords) {
      std::vector<CachedTransformer::Row> rows;
      for (const Sentence& sentence : sentences) rows.push_back(RowOf(sentence));
      const auto words = cached_.Continue(rows, words_at_once, context_);
      for (size_t i = 0; i < sentences.size(); ++i) {
        Words& history = sentences[i].history;
        history.insert(history.end(), words[i].begin(), words[i].end());
      }
    }
    std::vector<Words> translations;
    for (Sentence& sentence : sentences) {
      cached_.slots()->Give(sentence.source_slots);
      cached_.slots()->Give(sentence.slots);
      sentence.history.resize(kTargetWords + 1);
      translations.emplace_back(sentence.history.begin() + 1, sentence.history.end());
    }
    return translations;
  }
  // The same by the engine of the CPU.
  std::vector<Words> Expected(const std::vector<Words>& sources) {
    Seq2SeqConfig config = TinyConfig(GetParam());
    config.forced_end = false;
    const Seq2SeqEngine engine(MakeTinyNetwork(GetParam()), config, 64);
    std::vector<translation::SentenceJob> jobs(sources.size());
    for (size_t i = 0; i < sources.size(); ++i) {
      jobs[i].source = sources[i];
      jobs[i].max_target = kTargetWords;
    }
    engine.Translate(
        jobs, [](size_t) { return false; }, context_);
    std::vector<Words> translations;
    for (const translation::SentenceJob& job : jobs) translations.push_back(job.target);
    return translations;
  }
  // By how much the likeliest next word leads this one.
  float Lead(const Sentence& sentence, int32_t word) {
    const CachedTransformer::Row row = RowOf(sentence);
    const at::Tensor scores = cached_.Score({&row, 1}, context_);
    const float* const first = scores.const_data_ptr<float>();
    return *std::max_element(first, first + scores.size(1)) - first[word];
  }

  const c10::InferenceMode inference_;
  models::FakeWorkerContext context_;
  CachedTransformer cached_;
};

TEST_P(CachedTransformerTest, TheLikeliestWordsAreThoseOfTheCpusOwnEngine) {
  const std::vector<Words> sources = RandomSources(150);
  std::vector<Words> expected = Expected(sources);
  for (Words& words : expected) {
    if (words.size() < kTargetWords) words.push_back(TinyTask(GetParam()).end);
  }
  // Each sentence goes on with the words that are expected, so that all of them are compared.
  std::vector<Sentence> sentences = Begin(sources);
  size_t words = 0;
  size_t near_ties = 0;
  for (size_t k = 0; k < kTargetWords; ++k) {
    std::vector<size_t> at_work;
    std::vector<CachedTransformer::Row> rows;
    for (size_t i = 0; i < sentences.size(); ++i) {
      if (k >= expected[i].size()) continue;
      at_work.push_back(i);
      rows.push_back(RowOf(sentences[i]));
    }
    const auto likeliest = cached_.Continue(rows, 1, context_);
    for (size_t row = 0; row < at_work.size(); ++row) {
      Sentence& sentence = sentences[at_work[row]];
      const int32_t word = expected[at_work[row]][k];
      if (likeliest[row].front() != word) {
        ++near_ties;
        EXPECT_LT(Lead(sentence, word), kNearTie)
            << "sentence " << at_work[row] << ", word " << k << ": " << likeliest[row].front()
            << " in place of " << word;
      }
      sentence.history.push_back(word);
      ++words;
    }
  }
  EXPECT_GT(words, 5 * sources.size());
  EXPECT_LE(near_ties, words / 200);
}

TEST_P(CachedTransformerTest, TranslationsGiveTheirSlotsBack) {
  Translate(RandomSources(3), 1);
  EXPECT_EQ(cached_.slots()->used(), 0u);
}

TEST_P(CachedTransformerTest, SeveralWordsAtOnceAreThoseOfOneAtATime) {
  const std::vector<Words> sources = RandomSources(20);
  EXPECT_EQ(Translate(sources, CachedTransformer::kMaxWords), Translate(sources, 1));
}

TEST_P(CachedTransformerTest, GivenWordsComeInPlaceOfTheLikeliest) {
  const std::vector<Words> sources = RandomSources(2);
  const std::vector<Sentence> sentences = Begin(sources);
  const Words forced = {33, 5};
  std::vector<CachedTransformer::Row> rows = {RowOf(sentences[0]), RowOf(sentences[1])};
  const auto free = cached_.Continue(rows, 4, context_);
  rows[0].forced = forced;
  const auto words = cached_.Continue(rows, 4, context_);
  EXPECT_EQ((Words{words[0][0], words[0][1]}), forced);
  EXPECT_NE(words[0], free[0]);
  EXPECT_EQ(words[1], free[1]);
}

TEST_P(CachedTransformerTest, ScoresAreThoseTheLikeliestWordIsTakenFrom) {
  const std::vector<Words> sources = RandomSources(3);
  const std::vector<Sentence> sentences = Begin(sources);
  std::vector<CachedTransformer::Row> rows;
  for (const Sentence& sentence : sentences) rows.push_back(RowOf(sentence));
  const at::Tensor scores = cached_.Score(rows, context_);
  const auto words = cached_.Continue(rows, 1, context_);
  for (size_t i = 0; i < rows.size(); ++i) {
    const float* row = scores.const_data_ptr<float>() + static_cast<int64_t>(i) * scores.size(1);
    const auto best = std::max_element(row, row + scores.size(1)) - row;
    EXPECT_EQ(words[i], Words{static_cast<int32_t>(best)});
    // The padding of the vocabulary never comes.
    EXPECT_TRUE(std::isinf(row[TinyTask(GetParam()).words]));
  }
}

TEST_P(CachedTransformerTest, WhatIsNoNumberStaysWithItsSentence) {
  constexpr int32_t kBroken = 33;
  bergamot::TinyTensors tensors = MakeTinySeq2Seq(GetParam());
  tensors["output"] = tensors.at("embeddings");
  std::string& embeddings = tensors.at("embeddings").bytes;
  const size_t row = static_cast<size_t>(TinyConfig(GetParam()).dim) * sizeof(float);
  std::fill_n(embeddings.begin() + static_cast<std::ptrdiff_t>(kBroken * row), row, '\xFF');
  const CachedTransformer broken(Upload(tensors), kSlots, "broken", /*few_shapes=*/false);
  const Words source = {5, 6, 0};
  const Words forced(4, kBroken);
  const auto translate = [&](std::span<const int32_t> given) {
    const Words source_slots = broken.slots()->Take(source.size(), this);
    const Words slots = broken.slots()->Take(9, this);
    const CachedTransformer::Source encoded = {source, source_slots};
    broken.Encode({&encoded, 1}, context_);
    Words words = {TinyTask(GetParam()).start};
    while (words.size() < 9) {
      const CachedTransformer::Row next = {.word = std::max(words.back(), 0),
                                           .position = words.size() - 1,
                                           .path = slots,
                                           .source = source_slots,
                                           .forced = given};
      const Words four = broken.Continue({&next, 1}, 4, context_).front();
      words.insert(words.end(), four.begin(), four.end());
    }
    broken.slots()->Give(slots);
    broken.slots()->Give(source_slots);
    return words;
  };
  const Words before = translate({});
  EXPECT_EQ(std::ranges::count(before, -1), 0);
  translate(forced);  // leaves its slots without numbers
  EXPECT_EQ(translate({}), before);
}

TEST_P(CachedTransformerTest, SlotsOfOthersDoNotMatter) {
  const std::vector<Words> sources = RandomSources(8);
  const std::vector<Words> alone = Translate({sources[3]}, 2);
  EXPECT_EQ(Translate(sources, 2)[3], alone[0]);
}

INSTANTIATE_TEST_SUITE_P(Kinds, CachedTransformerTest,
                         ::testing::Values(TinyKind::kMarian, TinyKind::kM2m100),
                         [](const auto& info) {
                           return info.param == TinyKind::kMarian ? "marian" : "m2m100";
                         });

}  // namespace
}  // namespace millrace::seq2seq
