#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// Reads a word as people write it in chats: "pls", "idk", "soooo". end: one past the word, for the
// reading. nullopt if it is none. Thread-safe.
std::optional<Reading> ReadChatWord(std::string_view word, size_t end);

// Returns the end of the letters and digits at `at`, as in "l8r" and "2moro". Thread-safe.
size_t ChatWordEnd(std::string_view text, size_t at);

// Reads a letter or "ur" as a word where its neighbours are of a chat: "c u", "how r u".
// previous: the word before, in lower case. Thread-safe.
std::optional<Reading> ReadChatLetter(std::string_view text, size_t begin, size_t end,
                                      std::string_view previous);

// Returns true for the "2" at `at` of "thx, u 2!" and "that's 2 funny". previous: the word before,
// in lower case; chat: words of a chat are in the sentence. Thread-safe.
bool StandsForToo(std::string_view text, size_t at, std::string_view previous, bool chat);

// Reads how often a medicine is taken, "q4-6h", and for how long, "x 7 days". Thread-safe.
std::optional<Reading> ReadDosing(const NumberWords& numbers, std::string_view text, size_t at,
                                  std::string_view previous);

}  // namespace millrace::models
