#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "models/core/search_overrides.h"
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

// What a text is written in besides words.
enum class TextFormat : uint8_t { kText, kHtml, kMarkdown };

// A term and what it is translated as.
struct GlossaryEntry {
  std::string source;
  std::string target;

  friend bool operator==(const GlossaryEntry&, const GlossaryEntry&) = default;
};

// A sentence on its way from one translation model to another, with its markup and what must
// survive aside. Only those models look into it. Constant.
class PivotSentence {
 public:
  virtual ~PivotSentence() = default;
};

struct TranslateInput {
  std::vector<std::string> texts;    // at least one; one may be long: it is split into sentences
  std::string source_language = {};  // BCP 47, of the model's; empty: its default
  std::string target_language = {};
  SearchOverrides search = {};
  // What the first sentence of each text's translation begins with, and is part of it; none, or as
  // many as texts.
  std::vector<std::string> target_prefixes = {};
  TextFormat format = TextFormat::kText;
  std::vector<GlossaryEntry> glossary = {};        // no source twice, no string empty
  std::vector<std::string> do_not_translate = {};  // stay as they are wherever they stand
  bool partial = false;     // outputs come as tokens are decided, not only when a sentence is done
  bool use_cache = true;    // a warm-up's must run
  bool for_pivot = false;   // another model goes on with the outputs
  bool first_soon = false;  // the first sentence is translated before others begin
  // The first model of a pivot gives these with the texts, and they are read in place of those that
  // have one. Empty, or as many as texts, some of which may be null.
  std::vector<std::shared_ptr<const PivotSentence>> pivot_sentences = {};
};

struct TranslationAlternative {
  std::string text;
  float score = 0;  // as TranslateOutput::score

  friend bool operator==(const TranslationAlternative&, const TranslationAlternative&) = default;
};

// One finished sentence of one text; of a partial request also a piece of one. Concatenating `text`
// over a text's outputs, in order, gives its translation: white space between sentences is part of
// them.
struct TranslateOutput {
  size_t text_index = 0;  // into TranslateInput::texts
  std::string text;
  bool text_finished = false;  // this was the text's last sentence
  int64_t source_tokens = 0;
  int64_t target_tokens = 0;
  bool sentence_finished = true;
  // With the sentence's last piece. Higher is better among those of one sentence; 0 from searches
  // without scores.
  float score = 0;
  // The next best of the whole sentence, the best first, each with the white space behind it.
  std::vector<TranslationAlternative> alternatives = {};
  // With the sentence's last piece: parts of it that the model could not read and that its
  // translation does not have.
  std::vector<std::string> lost = {};
  // When another model goes on with it: the sentence, where it is more than plain text.
  std::shared_ptr<const PivotSentence> pivot_sentence = {};
};

// The kind of break between two pieces of speech.
enum class SpeechBreak : uint8_t { kNone, kClause, kSentence, kParagraph };

// Seconds of silence between two sentences, and two paragraphs, where a request leaves it open;
// they are shorter for what is said faster.
struct SpeechPauses {
  float sentence = 0.4F;
  float paragraph = 0.8F;

  friend bool operator==(const SpeechPauses&, const SpeechPauses&) = default;
};

struct SynthesizeInput {
  std::string text;
  bool is_phonemes = false;   // the text is phonemes, in the model's own symbols
  std::string language;       // BCP 47, of the text; empty: the model's default
  std::string voice;          // empty: the model's default
  float speed = 1.0F;         // 0.25 .. 4; 2 speaks twice as fast
  float noise_scale = -1.0F;  // 0 .. 2; negative: the voice's default
  float noise_w = -1.0F;      // 0 .. 2; negative: the voice's default
  uint64_t seed = 0;          // of the noise; the same seed and input give the same audio
  // Somebody listens while it is made: it comes in pieces, the first of them soon. Joined they are
  // the same samples, but where a model must cut the text for it: into sentences of their own.
  bool streamed = false;
  // Sentences of the same text that earlier requests spoke: the noise goes on from there.
  size_t first_sentence = 0;
  // More of the text is in other requests: that there is nothing to speak in this one is no error.
  bool part_of_text = false;
  // How the text before this one ends, when earlier requests spoke it.
  SpeechBreak break_before = SpeechBreak::kNone;
  float sentence_pause = -1.0F;   // seconds, 0 .. 10; negative: the model's default
  float paragraph_pause = -1.0F;  // the same between paragraphs
  bool word_times = false;        // whether outputs tell when each word, or phoneme, is heard
  bool phoneme_times = false;
};

// When a word or a phoneme is heard.
struct SpokenSpan {
  std::string text;   // the word as it is written, or the model's symbol
  int64_t begin = 0;  // samples; a model counts from the beginning of the sentence
  int64_t end = 0;
  size_t character = 0;  // of a word: characters of the input's text before it

  friend bool operator==(const SpokenSpan&, const SpokenSpan&) = default;
};

// The audio of one sentence, or of a piece of it; the pieces of a sentence come in order.
struct SynthesizeOutput {
  int sample_rate = 0;         // hertz
  std::vector<float> samples;  // mono, -1 .. 1
  size_t sentence_index = 0;
  std::string text;  // the sentence, with its first piece
  bool sentence_finished = true;
  // As asked for, of the whole sentence and with its first piece: in order, without overlap.
  std::vector<SpokenSpan> words = {};
  std::vector<SpokenSpan> phonemes = {};
};

using Input = std::variant<InferInput, TranslateInput, SynthesizeInput>;
using Output = std::variant<InferOutput, TranslateOutput, SynthesizeOutput>;

}  // namespace millrace::models
