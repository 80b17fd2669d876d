#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "models/text/english/english_lexicon.h"

namespace millrace::testing {

// The bytes of a lexicon file; values as english_lexicon.py writes them ("gphonemes\tVERB=...").
std::string LexiconBytes(const std::map<std::string, std::string>& entries, unsigned dialect = 0);

// A lexicon of some twenty words that is opened from a file in `folder`.
models::EnglishLexicon TinyLexicon(const std::filesystem::path& folder);

void WriteFile(const std::filesystem::path& path, const std::string& bytes);

}  // namespace millrace::testing
