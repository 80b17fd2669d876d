#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/core/model_info.h"

namespace millrace::models {

// These functions choose model and voice where a request names none. Languages are BCP 47 tags,
// looked up as in language_tag.h: for "en-GB" a voice for "en-GB" comes before one for "en", and
// that before one for "en-US". Thread-safe.

// Returns the voice of a model for a language: of those that were made for the nearest language,
// the one that its configuration names for it, else the first; its default if none was made for the
// language. An empty language is the model's.
std::string DefaultVoice(const SpeechInfo& info, std::string_view language);

// Returns the voices of a model that suit a language, its default first: those that were made for
// the language, of its region only if there are such; all voices where there is none. An empty
// language is the model's, of any region.
std::vector<std::string> VoicesFor(const SpeechInfo& info, std::string_view language);

// Returns true if the model has all parts of the voice ("a:0.3+b:0.7").
bool HasVoice(const SpeechInfo& info, std::string_view voice);

// Returns the language that a voice was made for, or of a mix its first part; empty if that is not
// known.
std::string LanguageOfVoice(const SpeechInfo& info, std::string_view voice);

// Returns true if a voice of the model was made for the language.
bool IsMadeFor(const SpeechInfo& info, std::string_view language);

// Returns the best of several models for a text in the language. Models that have all parts of the
// voice ("a:0.3+b:0.7"; empty: any) come first; they are ordered by how near the
// language that they were made for is, how near one that they read is, the cost of their speech,
// and name. Null when there is
// no speech model.
const ModelInfo* ChooseSpeechModel(std::span<const ModelInfo* const> models,
                                   std::string_view language, std::string_view voice);

// A voice and the model that has it.
struct ModelVoice {
  const ModelInfo* model;
  std::string voice;
};

// Returns the voices of several models that were made for a language, of its region only if there
// are such. Models come in the order of the cost of their speech, then of their names, and of each
// the voice first that speaks if none is named.
std::vector<ModelVoice> VoicesOfAll(std::span<const ModelInfo* const> models,
                                    std::string_view language);

// Returns true if the model reads pronunciations that are written into a text in this language, as
// in "[word](/phonemes/)".
bool ReadsPronunciations(const SpeechInfo& info, std::string_view language);

}  // namespace millrace::models
