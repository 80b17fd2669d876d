// Real weights against the translations of the engine that they were published with (float32, the
// same shortlist), 250 sentences a direction. Needs converted models: MILLRACE_MODELS, or
// var/models.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/bergamot/aten_engine.h"
#include "models/bergamot/bergamot_engine.h"
#include "models/bergamot/bergamot_weights.h"
#include "models/bergamot/int8_engine.h"
#include "models/translation/vocabulary.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/fakes/golden_share.h"
#include "tests/fakes/models_folder.h"
#include "tests/fakes/needed.h"
#include "tests/unit/models/bergamot/tiny_model.h"

namespace millrace::bergamot {
namespace {

constexpr double kIdenticalAtLeast = 0.98;
constexpr double kChrfAtLeast = 99.0;

std::vector<std::string> ReadLines(const std::string& name) {
  std::vector<std::string> lines;
  std::ifstream file(TestDataFolder() / name);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// Corpus chrF2, 0..100, over bytes rather than characters: stricter on accented letters.
double Chrf(const std::vector<std::string>& expected, const std::vector<std::string>& got) {
  constexpr size_t kOrder = 6;
  constexpr double kBeta2 = 4;
  double total = 0;
  for (size_t n = 1; n <= kOrder; ++n) {
    double matched = 0;
    double of_expected = 0;
    double of_got = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      std::map<std::string, std::pair<int, int>> counts;
      for (size_t at = 0; at + n <= expected[i].size(); ++at)
        ++counts[expected[i].substr(at, n)].first;
      for (size_t at = 0; at + n <= got[i].size(); ++at) ++counts[got[i].substr(at, n)].second;
      for (const auto& [ngram, count] : counts) {
        matched += std::min(count.first, count.second);
        of_expected += count.first;
        of_got += count.second;
      }
    }
    const double precision = matched / std::max(of_got, 1.0);
    const double recall = matched / std::max(of_expected, 1.0);
    const double weight = kBeta2 * precision + recall;
    total += weight > 0 ? (1 + kBeta2) * precision * recall / weight : 0;
  }
  return 100 * total / kOrder;
}

struct Direction {
  std::string model;
  std::string source_file;
  std::string expected_file;
};

class BergamotGoldenTest : public ::testing::TestWithParam<Direction> {
 protected:
  void SetUp() override {
    const auto folder = testing::ModelsFolder() / GetParam().model / "1";
    MILLRACE_NEEDS(std::filesystem::exists(folder), folder << " is missing: run `make models`");
    auto weights = BergamotWeights::Load(folder / "weights.safetensors");
    ASSERT_TRUE(weights.ok()) << weights.status();
    weights_ = *std::move(weights);
    auto vocabulary =
        translation::Vocabulary::Load(folder / "vocab.spm", weights_->source_tokens());
    ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
    vocabulary_ = *std::move(vocabulary);
    sources_ = ReadLines(GetParam().source_file);
    expected_ = ReadLines(GetParam().expected_file);
    ASSERT_EQ(sources_.size(), 250u);
    ASSERT_EQ(expected_.size(), sources_.size());
    sources_ = testing::GoldenShare(std::move(sources_));
    expected_ = testing::GoldenShare(std::move(expected_));
  }

  std::vector<std::string> Translate(const translation::TranslationEngine& engine,
                                     size_t batch_size, size_t count) {
    std::vector<std::string> translations;
    for (size_t first = 0; first < count; first += batch_size) {
      std::vector<translation::SentenceJob> jobs;
      for (size_t i = first; i < std::min(count, first + batch_size); ++i) {
        jobs.push_back(MakeSentenceJob(vocabulary_->Encode(sources_[i], 255).tokens, 2.5F));
      }
      engine.Translate(
          jobs, [](size_t) { return false; }, context_);
      for (const translation::SentenceJob& job : jobs)
        translations.push_back(vocabulary_->Decode(job.target));
    }
    return translations;
  }

  // The first translations of an engine against the expected ones.
  void ExpectAgreement(const std::string& name, const std::vector<std::string>& got) {
    const std::vector<std::string> expected(
        expected_.begin(), expected_.begin() + static_cast<std::ptrdiff_t>(got.size()));
    size_t identical = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      identical += got[i] == expected[i];
      if (got[i] != expected[i]) {
        std::cout << name << ":\n  source    " << sources_[i] << "\n  expected  " << expected[i]
                  << "\n  got       " << got[i] << "\n";
      }
    }
    const double chrf = Chrf(expected, got);
    std::cout << GetParam().model << ", " << name << ": " << identical << " of " << got.size()
              << " identical, chrF " << chrf << "\n";
    EXPECT_GE(static_cast<double>(identical), kIdenticalAtLeast * static_cast<double>(got.size()));
    EXPECT_GE(chrf, kChrfAtLeast);
  }

  std::unique_ptr<const BergamotWeights> weights_;
  std::unique_ptr<const translation::Vocabulary> vocabulary_;
  std::vector<std::string> sources_;
  std::vector<std::string> expected_;
  models::FakeWorkerContext context_;
};

INSTANTIATE_TEST_SUITE_P(
    Models, BergamotGoldenTest,
    ::testing::Values(Direction{"bergamot-en-pt", "en.txt", "en-pt.expected.txt"},
                      Direction{"bergamot-pt-en", "pt.txt", "pt-en.expected.txt"}),
    [](const auto& info) { return info.param.model == "bergamot-en-pt" ? "EnPt" : "PtEn"; });

TEST_P(BergamotGoldenTest, TranslatesAsThePublishedEngineInAnyBatch) {
  const kernels::IntegerKernels& best = *kernels::SupportedIntegerKernels().front();
  const auto engine = MakeInt8Engine(*weights_, best);
  const auto alone = Translate(*engine, 1, sources_.size());
  ExpectAgreement(best.name, alone);
  EXPECT_EQ(Translate(*engine, 32, sources_.size()), alone);
  EXPECT_EQ(Translate(*engine, sources_.size(), sources_.size()), alone);
}

TEST_P(BergamotGoldenTest, EverySetOfKernelsAgrees) {
  constexpr size_t kSentences = 50;  // the portable kernels are slow
  for (const kernels::IntegerKernels* kernels : kernels::SupportedIntegerKernels().subspan(1)) {
    ExpectAgreement(kernels->name, Translate(*MakeInt8Engine(*weights_, *kernels), 32, kSentences));
  }
}

TEST_P(BergamotGoldenTest, LibtorchInFloat32Agrees) {
  constexpr size_t kSentences = 50;
  ExpectAgreement("aten",
                  Translate(*MakeAtenEngine(*weights_, runtime::DeviceType::kCpu), 16, kSentences));
}

}  // namespace
}  // namespace millrace::bergamot
