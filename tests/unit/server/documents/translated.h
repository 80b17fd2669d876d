#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "server/documents/document.h"

namespace millrace::server {

using Translator = std::function<std::string(std::string)>;

inline std::string Same(std::string text) { return text; }

// Replaces the first of `from` in a text.
inline Translator Saying(std::string from, std::string to) {
  return [from, to](std::string text) {
    const size_t at = text.find(from);
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
  };
}

// A file's translation, or what is wrong with it.
inline std::string Translated(std::string_view file_name, std::string bytes,
                              const Translator& translate, const DocumentLimits& limits = {}) {
  auto document = OpenDocument(file_name, std::move(bytes), limits);
  if (!document.ok()) return std::string(document.status().message());
  std::vector<std::string> translations;
  for (const std::string& text : (*document)->texts()) translations.push_back(translate(text));
  absl::StatusOr<std::string> rendered = (*document)->Render(std::move(translations));
  return rendered.ok() ? *rendered : std::string(rendered.status().message());
}

// The texts of a file.
inline std::vector<std::string> TextsOf(std::string_view file_name, std::string bytes) {
  auto document = OpenDocument(file_name, std::move(bytes), {});
  if (!document.ok()) return {std::string(document.status().message())};
  return {(*document)->texts().begin(), (*document)->texts().end()};
}

}  // namespace millrace::server
