#pragma once

#include "models/config/config_section.h"

namespace millrace::translation {

// Reads the languages and the bounds that all translation models have.
template <typename Message, typename Config>
void TakeLanguagesAndLengths(const Message& message, const models::ConfigSection& section,
                             Config& config) {
  section.Text("source_language", message.source_language(), 35);
  section.Text("target_language", message.target_language(), 35);
  config.source_language = message.source_language();
  config.target_language = message.target_language();
  if (message.max_length_factor() != 0) {
    section.Range("max_length_factor", message.max_length_factor(), 0.5F, 16.0F);
    config.max_length_factor = message.max_length_factor();
  }
  if (message.max_source_tokens() != 0) {
    section.Range("max_source_tokens", message.max_source_tokens(), 16U, 1024U);
    config.max_source_tokens = message.max_source_tokens();
  }
}

}  // namespace millrace::translation
