#include "models/text/espeak_answer.h"

#include "models/text/trim.h"

namespace millrace::models {

std::string CleanEspeakAnswer(std::string_view answer) {
  std::string clean;
  bool in_flag = false;
  for (char c : Trim(answer)) {
    if (c == '(') in_flag = true;
    if (!in_flag) clean += c == '\n' ? ' ' : c;
    if (c == ')') in_flag = false;
  }
  return clean;
}

}  // namespace millrace::models
