#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace millrace::seq2seq {

enum class Activation : uint8_t { kRelu, kSwish };

// The way in which the languages of a request reach the network.
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
  // Norms before each sublayer and after the last one, instead of after each.
  bool norm_first = false;
  Activation activation = Activation::kRelu;
  float embedding_scale = 1.0F;
  float norm_epsilon = 1e-5F;

  int32_t start = 0;       // the decoder's first input, not part of the translation
  int32_t end = 0;         // ends a translation
  int32_t source_end = 0;  // ends a source; same as `end` unless the source has its own vocabulary
  bool has_source_end = true;  // false: a source ends with its last token, as OpenNMT has it
  int32_t unknown = 0;         // stands for pieces that the source's vocabulary lacks
  int32_t target_unknown = 0;  // the target's; same as `unknown` unless it has its own vocabulary
  bool forced_end = false;     // the last token of a translation of the greatest length is the end
  std::vector<int32_t> suppressed;  // never chosen

  LanguageTokens language_tokens = LanguageTokens::kNone;
  std::vector<LanguageToken> languages;  // empty for kNone
};

// Returns InvalidArgument or DataLoss that names the file and field. Whether tokens are in the
// vocabulary is checked later, when its size is known.
absl::StatusOr<Seq2SeqConfig> ReadSeq2SeqConfig(const std::filesystem::path& path);

}  // namespace millrace::seq2seq
