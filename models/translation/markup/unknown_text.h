#pragma once

#include "models/translation/markup/alphabet.h"
#include "models/translation/markup/marked_text.h"
#include "models/translation/markup/number_format.h"

namespace millrace::translation {

struct UnknownTextOptions {
  Alphabet alphabet;
  // True if the language is written with the 26 letters of ASCII, so that any other letter belongs
  // to a name. In other languages a capital of which the vocabulary only has the lower-case letter
  // is left to the model, which learnt to guess it.
  bool ascii_letters = false;
  // Sums of money that are kept are written so; unknown formats leave them as they are.
  NumberFormats formats = {};
};

// Keeps text that a model cannot read: characters that its vocabulary lacks or changes. Punctuation
// is read as the ASCII characters with the same meaning. For anything else the whole word or sum of
// money is kept, with the marks in it, so that "Łódź", "C#" and "£20" come out byte for byte, but
// for the separators of a sum. Spans that are already kept are not changed. Thread-safe; linear
// time.
void KeepUnknownText(MarkedText& marked, const UnknownTextOptions& options);

// Writes sums of money that are already kept, which came from another translation, in the target's
// format.
void ConvertKeptSums(MarkedText& marked, const NumberFormats& formats);

}  // namespace millrace::translation
