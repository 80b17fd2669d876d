#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "models/core/search_overrides.h"
#include "models/core/speech_markup.h"
#include "models/core/tensor.h"

namespace millrace::models {

// The native inputs and outputs of the tasks: plain data, valid on any thread. Text is UTF-8,
// already checked by the service.

struct InferInput {
  std::vector<Tensor> inputs;
  std::vector<std::string> requested_outputs;  // empty: all
};

struct InferOutput {
  std::vector<Tensor> outputs;
};

// The markup that a text may contain.
enum class TextFormat : uint8_t { kText, kHtml, kMarkdown };

// A term and its translation.
struct GlossaryEntry {
  std::string source;
  std::string target;

  friend bool operator==(const GlossaryEntry&, const GlossaryEntry&) = default;
};

// A sentence on its way from one translation model to another. Its markup and protected spans are
// kept apart from its text. Only those models look into it. Constant.
class PivotSentence {
 public:
  virtual ~PivotSentence() = default;
};

struct TranslateInput {
  std::vector<std::string> texts;    // at least one; each is split into sentences
  std::string source_language = {};  // BCP 47, of the model's; empty: its default
  std::string target_language = {};
  SearchOverrides search = {};
  // The translation of a text begins with its prefix, which is part of it. The list is empty or has
  // as many elements as there are texts.
  std::vector<std::string> target_prefixes = {};
  TextFormat format = TextFormat::kText;
  std::vector<GlossaryEntry> glossary = {};        // no source twice, no string empty
  std::vector<std::string> do_not_translate = {};  // stay as they are wherever they stand
  bool partial = false;     // outputs come as tokens are decided, not only when a sentence is done
  bool use_cache = true;    // a warm-up's must run
  bool for_pivot = false;   // another model goes on with the outputs
  bool first_soon = false;  // the first sentence is translated before others begin
  // The sentences that the first model of a pivot returned. A text that has one is not read. The
  // list is empty or has as many elements as there are texts, some of which may be null.
  std::vector<std::shared_ptr<const PivotSentence>> pivot_sentences = {};
};

struct TranslationAlternative {
  std::string text;
  float score = 0;  // as TranslateOutput::score

  friend bool operator==(const TranslationAlternative&, const TranslationAlternative&) = default;
};

// One finished sentence of one text or, if the request is partial, a piece of one. Concatenating
// `text` over a text's outputs, in order, gives its translation: white space between sentences is
// part of them.
struct TranslateOutput {
  size_t text_index = 0;  // into TranslateInput::texts
  std::string text;
  bool text_finished = false;  // this was the text's last sentence
  int64_t source_tokens = 0;
  int64_t target_tokens = 0;
  bool sentence_finished = true;
  // The score of the sentence, set in its last piece. Among translations of one sentence a higher
  // score is better. It is 0 if the search computes no scores.
  float score = 0;
  // Other translations of the whole sentence, best first, each with the white space behind it.
  std::vector<TranslationAlternative> alternatives = {};
  // Parts of the sentence that its translation lacks, because the model could not read them or left
  // them out. They are set in its last piece.
  std::vector<std::string> lost = {};
  // The sentence for the second model of a pivot; null if `text` says all of it.
  std::shared_ptr<const PivotSentence> pivot_sentence = {};
};

// The seconds of silence after a sentence and after a paragraph, for requests that do not set them.
// The speed of the speech divides them.
struct SpeechPauses {
  float sentence = 0.4F;
  float paragraph = 0.8F;

  friend bool operator==(const SpeechPauses&, const SpeechPauses&) = default;
};

// How far a request has spoken its text, at the end of a sentence.
struct SpokenSoFar {
  size_t bytes = 0;      // bytes of the text
  size_t sentences = 0;  // sentences of this request

  friend bool operator==(const SpokenSoFar&, const SpokenSoFar&) = default;
};

struct SynthesizeInput {
  std::string text;
  bool is_phonemes = false;   // the text is phonemes, in the model's own symbols
  std::string language;       // BCP 47, of the text; empty: the model's default
  std::string voice;          // empty: the model's default
  float speed = 1.0F;         // 0.25 .. 4; 2 speaks twice as fast
  float noise_scale = -1.0F;  // 0 .. 2; negative: the voice's default
  float noise_w = -1.0F;      // 0 .. 2; negative: the voice's default
  uint64_t seed = 0;          // seeds the noise; the same seed and input give the same audio
  // If true, the audio is returned in pieces, the first one early. The joined pieces equal the
  // audio of a request that is not streamed, unless a model must split a sentence for it.
  bool streamed = false;
  // How many sentences of the same text earlier requests spoke; the noise continues there.
  size_t first_sentence = 0;
  // The part that an earlier run of the same request spoke; this one goes on behind it.
  SpokenSoFar spoken = {};
  // If true, other requests hold more of the text, and it is no error if this one has no speech.
  bool part_of_text = false;
  // The break between this text and the one that an earlier request spoke.
  SpeechBreak break_before = SpeechBreak::kNone;
  float sentence_pause = -1.0F;   // seconds, 0 .. 10; negative: the model's default
  float paragraph_pause = -1.0F;  // the same between paragraphs
  bool word_times = false;        // if true, outputs have the time of each word
  bool phoneme_times = false;     // if true, outputs have the time of each phoneme
  bool use_cache = true;          // a warm-up's must run
  SpeechMarkup markup = {};       // voices, speeds, pauses and pronunciations within the text
};

// A word or a phoneme, and the time at which it is heard.
struct SpokenSpan {
  std::string text;   // the word as it is written, or the model's symbol
  int64_t begin = 0;  // samples; a model counts from the beginning of the sentence
  int64_t end = 0;
  size_t character = 0;  // for words: the number of characters of the text before it

  friend bool operator==(const SpokenSpan&, const SpokenSpan&) = default;
};

// The audio of one sentence, or of a piece of it; the pieces of a sentence come in order.
struct SynthesizeOutput {
  int sample_rate = 0;         // hertz
  std::vector<float> samples;  // mono, -1 .. 1
  size_t sentence_index = 0;
  std::string text;  // the sentence, with its first piece
  bool sentence_finished = true;
  // The times that the request asked for, in order; the first piece has all of its sentence.
  std::vector<SpokenSpan> words = {};
  std::vector<SpokenSpan> phonemes = {};
  // Set at the end of a sentence behind which another run of the request may go on; see
  // SynthesizeInput::spoken.
  SpokenSoFar spoken = {};
};

using Input = std::variant<InferInput, TranslateInput, SynthesizeInput>;
using Output = std::variant<InferOutput, TranslateOutput, SynthesizeOutput>;

}  // namespace millrace::models
