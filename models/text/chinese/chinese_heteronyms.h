#pragma once

#include <span>

#include "models/text/chinese/chinese_lexicon.h"
#include "models/text/chinese/tone_sandhi.h"

namespace millrace::models {

// Chooses the readings of characters that no word of the lexicon decides by their neighbours: 地
// and 得 as particles, 还 of money, 长, 行, 重, 了, 着, 为 and surnames. words: those between two
// pauses. Thread-safe; linear time.
void ChooseReadings(const ChineseLexicon& lexicon, std::span<ChineseReading> words);

}  // namespace millrace::models
