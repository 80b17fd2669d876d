#pragma once

#include <string>
#include <string_view>

#include "models/text/english/dialect.h"

namespace millrace::models {

// Functions on stress and endings of English phonemes in misaki's symbols. Thread-safe.

inline constexpr std::string_view kPrimaryStress = "ˈ";
inline constexpr std::string_view kSecondaryStress = "ˌ";

bool IsVowelSymbol(char32_t symbol);
bool IsConsonantSymbol(char32_t symbol);

// Turns primary stress into secondary and drops secondary stress; without a primary one nothing
// changes.
std::string DemoteStress(std::string_view phonemes);
// Gives a word without any stress a secondary one before its first vowel.
std::string EnsureSecondaryStress(std::string_view phonemes);
// Turns secondary stress into primary; a word without any gets one before its first vowel.
std::string EnsurePrimaryStress(std::string_view phonemes);

// Append the endings -s, -ed and -ing to a stem, voiced according to its last sound. Empty for an
// empty stem. linking_r: the stem is written with a final r, which British English pronounces
// before -ing.
std::string WithS(std::string_view stem, EnglishDialect dialect);
std::string WithEd(std::string_view stem, EnglishDialect dialect);
std::string WithIng(std::string_view stem, EnglishDialect dialect, bool linking_r);

// Returns the weight of a word when one part of a compound has to yield its stress: long vowels and
// affricates count twice.
size_t StressWeight(std::string_view phonemes);

}  // namespace millrace::models
