#include "models/text/english/amount.h"

#include "models/text/ascii.h"
#include "models/text/unicode.h"

namespace millrace::models {

bool Amount::IsYear() const {
  return whole.size() == 4 && fraction.empty() && !grouped && whole >= "1000" && whole <= "2099";
}

std::optional<Amount> ParseAmount(std::string_view text, size_t at) {
  Amount amount;
  size_t end = DigitsEnd(text, at);
  amount.whole = text.substr(at, end - at);
  if (!amount.whole.empty() && amount.whole.size() <= 3) {
    while (ByteAt(text, end) == ',' && DigitsEnd(text.substr(0, end + 5), end + 1) == end + 4) {
      amount.whole += text.substr(end + 1, 3);
      amount.grouped = true;
      end += 4;
    }
  }
  // "1 000 000" and, with a space that does not break, "5 000".
  if (!amount.grouped && !amount.whole.empty() && amount.whole.size() <= 3) {
    size_t last = end;
    size_t groups = 0;
    bool unbroken = true;
    std::string digits;
    constexpr size_t kMostGroups = 6;
    while (groups < kMostGroups) {
      const CodePoint space = DecodeAt(text, last);
      if (!IsSpace(space.value) || space.value < ' ') break;
      const size_t begin = last + space.bytes;
      if (DigitsEnd(text.substr(0, begin + 4), begin) != begin + 3) break;
      digits += text.substr(begin, 3);
      unbroken = unbroken && space.value != ' ';
      last = begin + 3;
      ++groups;
    }
    if (groups > 0 && (unbroken || groups > 1) && !IsAsciiAlnum(ByteAt(text, last)) &&
        amount.whole[0] != '0') {
      amount.whole += digits;
      amount.grouped = true;
      end = last;
    }
  }
  // Indian numbers have pairs of digits before the last three: "1,00,000".
  if (!amount.grouped && !amount.whole.empty() && amount.whole.size() <= 2) {
    size_t last = end;
    std::string pairs;
    constexpr size_t kMostPairs = 6;
    while (pairs.size() < 2 * kMostPairs && ByteAt(text, last) == ',' &&
           DigitsEnd(text.substr(0, last + 4), last + 1) == last + 3) {
      pairs += text.substr(last + 1, 2);
      last += 3;
    }
    if (!pairs.empty() && ByteAt(text, last) == ',' &&
        DigitsEnd(text.substr(0, last + 5), last + 1) == last + 4) {
      amount.whole += pairs + std::string(text.substr(last + 1, 3));
      amount.grouped = true;
      end = last + 4;
    }
  }
  if (ByteAt(text, end) == '.' && IsAsciiDigit(ByteAt(text, end + 1))) {
    const size_t begin = end + 1;
    end = DigitsEnd(text, begin);
    amount.fraction = text.substr(begin, end - begin);
  }
  if (amount.whole.empty() && amount.fraction.empty()) return std::nullopt;
  amount.end = end;
  return amount;
}

std::vector<std::string> AmountWords(const NumberWords& numbers, const Amount& amount) {
  std::vector<std::string> words;
  if (!amount.whole.empty()) words = numbers.Whole(amount.whole);
  if (amount.fraction.empty()) return words;
  words.emplace_back("point");
  for (std::string& digit : numbers.Digits(amount.fraction)) words.push_back(std::move(digit));
  return words;
}

}  // namespace millrace::models
