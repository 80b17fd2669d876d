#pragma once

#include <cstdint>
#include <string>

#include "models/config/config_section.h"
#include "models/core/model_kind.h"

namespace millrace::translation {

// The settings that models of all kinds that translate have.
class TranslationConfig : public models::KindConfig {
 public:
  models::ModelDetails Details() const override {
    return models::TranslationInfo{.source_language = source_language,
                                   .target_language = target_language};
  }

  // Reads and checks the languages and the bounds, fields that all messages have.
  template <typename Message>
  void TakeLanguagesAndLengths(const Message& message, const models::ConfigSection& section) {
    section.Text("source_language", message.source_language(), 35);
    section.Text("target_language", message.target_language(), 35);
    source_language = message.source_language();
    target_language = message.target_language();
    if (message.max_length_factor() != 0) {
      section.Range("max_length_factor", message.max_length_factor(), 0.5F, 16.0F);
      max_length_factor = message.max_length_factor();
    }
    if (message.max_source_tokens() != 0) {
      section.Range("max_source_tokens", message.max_source_tokens(), 16U, 1024U);
      max_source_tokens = message.max_source_tokens();
    }
  }

  std::string source_language;
  std::string target_language;
  float max_length_factor = 2.5F;
  int64_t max_source_tokens;  // 16..1024

 protected:
  explicit TranslationConfig(int64_t tokens) : max_source_tokens(tokens) {}
};

}  // namespace millrace::translation
