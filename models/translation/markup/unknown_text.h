#pragma once

#include "models/translation/markup/alphabet.h"
#include "models/translation/markup/marked_text.h"

namespace millrace::translation {

struct UnknownTextOptions {
  Alphabet alphabet;
  // The text is in a language that is written with the 26 letters of ASCII: any other letter is in
  // a name. In other languages a capital that the vocabulary has as a small letter is left to the
  // model, which learnt to guess it.
  bool ascii_letters = false;
};

// Keeps what a model would not read: characters that its vocabulary lacks or turns into others.
// Punctuation is to be read as the ASCII characters that mean the same. Of anything else the whole
// word or sum of money that it stands in is kept, with the marks in it, so that "Łódź", "C#" and
// "£20" come out byte for byte. What is kept already is left alone. Thread-safe; linear time.
void KeepUnknownText(MarkedText& marked, const UnknownTextOptions& options);

}  // namespace millrace::translation
