#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// Reads a move of chess at `at` that names its piece or takes one: "Nf3", "exd5", "Qh5#", "O-O".
// The move of a pawn, "e4", is read as other letters and numbers are. Thread-safe.
std::optional<Reading> ReadChessMove(const NumberWords& numbers, std::string_view text, size_t at);

}  // namespace millrace::models
