#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace millrace::seq2seq {

enum class Activation : uint8_t { kRelu, kSwish };

// How the languages of a request reach the network.
enum class LanguageTokens : uint8_t {
  kNone,             // one pair of languages
  kTargetInSource,   // the target language's token begins the source: Marian
  kSourceAndTarget,  // the source begins with its own, and the target with its own: M2M-100, NLLB
};

struct LanguageToken {
  std::string tag;   // BCP 47, as requests give it
  std::string code;  // the model's own name of it
  int32_t id = 0;
};

// The shape of an encoder-decoder transformer and its special tokens: the package's config.json.
struct Seq2SeqConfig {
  int64_t dim = 0;
  int64_t encoder_layers = 0;
  int64_t decoder_layers = 0;
  int64_t encoder_heads = 0;
  int64_t decoder_heads = 0;
  bool norm_first = false;  // before each sublayer and behind the last, not behind each
  Activation activation = Activation::kRelu;
  float embedding_scale = 1.0F;
  float norm_epsilon = 1e-5F;

  int32_t start = 0;                // what a translation begins with, not part of it
  int32_t end = 0;                  // ends a translation
  int32_t source_end = 0;           // ends a source; as `end` unless a vocabulary of its own says
  int32_t unknown = 0;              // stands for pieces that the source's vocabulary lacks
  int32_t target_unknown = 0;       // and the target's; as `unknown` unless it has its own
  bool forced_end = false;          // a translation of the greatest length is made to end
  std::vector<int32_t> suppressed;  // never produced

  LanguageTokens language_tokens = LanguageTokens::kNone;
  std::vector<LanguageToken> languages;  // of kNone: none
};

// InvalidArgument or DataLoss naming file and field. Tokens are checked against `tokens` later, by
// who knows how many there are.
absl::StatusOr<Seq2SeqConfig> ReadSeq2SeqConfig(const std::filesystem::path& path);

}  // namespace millrace::seq2seq
