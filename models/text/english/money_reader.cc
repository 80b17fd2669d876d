#include "models/text/english/money_reader.h"

#include <utility>
#include <vector>

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/english/amount.h"
#include "models/text/english/attributive.h"
#include "models/text/english/currencies_text.h"
#include "models/text/english/one_of.h"
#include "models/text/english/sum_scales_text.h"
#include "models/text/english/word_kinds.h"

namespace millrace::models {
namespace {

struct Currency {
  std::string_view sign;
  std::string_view one;
  std::string_view many;
  std::string_view minor_one;  // empty: it has no hundredths that are spoken
  std::string_view minor_many;
};

// Returns true if a noun follows the sum, which belongs to it: "a $5 bill".
bool IsAttributive(std::string_view text, size_t end, bool article) {
  // "A $99/mo plan".
  const size_t period = end + 1;
  const bool paid =
      article && ByteAt(text, end) == '/' && NounFollows(text, LettersEnd(text, period, 8));
  return paid || (article && NounFollows(text, end)) || MeasuredFollows(text, end) ||
         BeginsWithOne(text.substr(end), "-a-|-an-|-plus ");
}

const Currency* FindCurrency(std::string_view text, size_t at) {
  // Most words begin with a small letter, and only two signs do; one has a small letter behind a
  // capital.
  const char first = ByteAt(text, at);
  const char second = ByteAt(text, at + 1);
  if (IsAsciiDigit(first) ||
      (IsAsciiLower(first) && !(first == 'k' && second == 'r') &&
       !(first == 'z' && !IsAsciiAlnum(second))) ||
      (IsAsciiUpper(first) && (second == ' ' || (IsAsciiLower(second) && second != 's'))))
    return nullptr;
  static const std::vector<Currency> currencies = [] {
    std::vector<Currency> all;
    for (const auto& [sign, one, many, minor_one, minor_many] : ReadTable<5>(kCurrenciesText))
      all.push_back({sign, one, many, minor_one, minor_many});
    return all;
  }();
  for (const Currency& currency : currencies) {
    if (text.substr(at, currency.sign.size()) == currency.sign) return &currency;
  }
  return nullptr;
}

// Returns "k", "million" and the like after an amount, and moves `at` behind it.
std::string_view TakeScale(std::string_view text, size_t& at) {
  static const WordTable<3> scales(kSumScalesText);
  const bool spaced = ByteAt(text, at) == ' ' || ByteAt(text, at) == '-';
  const size_t begin = at + (spaced ? 1 : 0);
  const size_t end = LettersEnd(text, begin, 9);
  const std::string_view word = begin <= text.size() ? text.substr(begin, end - begin) : "";
  const auto* const scale = scales.Find(word);
  if (scale == nullptr) return {};
  // "$5 M last year", but "$5 M. Smith".
  const std::string_view behind = text.substr(end, 1);
  const bool apart = word.size() == 1 && IsAsciiUpper(word[0]) && ByteAt(text, at) == ' ' &&
                     (behind.empty() || IsAmong(" .,;)?!", behind[0])) &&
                     !IsAsciiUpper(ByteAt(text, end + (behind == "." ? 2 : 1)));
  if (spaced && scale->back() == "joined" && !apart) return {};
  at = end;
  return (*scale)[1];
}

// Takes what the sum is paid for, as advertisements write it: "£25pp", "£900 pcm".
void TakePerWhat(std::string_view text, Reading& reading) {
  const size_t at = reading.end + (ByteAt(text, reading.end) == ' ' ? 1 : 0);
  const std::string_view word = LettersAt(text, at);
  const auto spoken = FindSpoken(word, "paid-per");
  if (!spoken || IsAsciiAlnum(ByteAt(text, at + word.size()))) return;
  reading.AppendEach(*spoken);
  reading.end = at + word.size();
}

// Returns the currency of a code that stands behind a sum with a sign, "$5 CAD", and moves `at`
// behind it; `currency` if there is none.
const Currency* TakeCode(std::string_view text, const Currency* currency, size_t& at) {
  constexpr size_t kBytes = 3;
  const bool code = ByteAt(text, at) == ' ' && LettersAt(text, at + 1).size() == kBytes &&
                    !IsAsciiAlnum(ByteAt(text, at + 1 + kBytes));
  const Currency* named = code ? FindCurrency(text, at + 1) : nullptr;
  if (named == nullptr || named->sign.size() != kBytes || !named->many.ends_with(currency->many))
    return currency;
  at += 1 + kBytes;
  return named;
}

// Appends the words of an amount with hundredths. attributive: a noun follows, to which it belongs.
void AppendHundredths(const NumberWords& numbers, const Currency& currency, const Amount& amount,
                      bool attributive, Reading& reading) {
  const uint64_t minor = ParseDigits(amount.fraction);
  const bool has_whole = amount.whole.find_first_not_of('0') != std::string::npos;
  if (has_whole || minor == 0) {
    reading.Append(numbers.Whole(has_whole ? amount.whole : "0"));
    const bool one = amount.whole == "1" || attributive;
    reading.AppendEach(one ? currency.one : currency.many);
    if (minor == 0) return;
    reading.Append("and");
  }
  reading.Append(numbers.Cardinal(minor));
  reading.Append(minor == 1 || (attributive && currency.minor_many != "pence")
                     ? currency.minor_one
                     : currency.minor_many);
}

// Returns true for a sum as it is written where the euro is paid: "1.500 €". "1.459 €/l" has a
// price.
bool GroupsThousands(std::string_view text, const Currency& currency, const Amount& amount,
                     size_t end) {
  constexpr size_t kThousands = 3;
  return currency.sign == "€" && amount.fraction.size() == kThousands && amount.whole != "0" &&
         !amount.grouped && ByteAt(text, end) != '/';
}

}  // namespace

size_t CurrencySignBytes(std::string_view text, size_t at) {
  const Currency* currency = FindCurrency(text, at);
  return currency == nullptr ? 0 : currency->sign.size();
}

std::string_view CurrencyName(std::string_view sign, bool one) {
  const Currency* currency = FindCurrency(sign, 0);
  if (currency == nullptr) return {};
  return one ? currency->one : currency->many;
}

std::optional<Reading> ReadMoneyBehind(const NumberWords& numbers, std::string_view text,
                                       const Amount& amount) {
  if (amount.fraction.size() != 2 && amount.fraction.size() != 3) return std::nullopt;
  const size_t sign = amount.end + (ByteAt(text, amount.end) == ' ' ? 1 : 0);
  const Currency* currency = FindCurrency(text, sign);
  if (currency == nullptr || currency->minor_one.empty()) return std::nullopt;
  const size_t end = sign + currency->sign.size();
  if (IsAsciiAlnum(ByteAt(text, end))) return std::nullopt;
  Reading reading{end, {}};
  if (GroupsThousands(text, *currency, amount, end)) {
    reading.Append(numbers.Whole(amount.whole + amount.fraction));
    reading.AppendEach(currency->many);
    return reading;
  }
  if (amount.fraction.size() != 2) return std::nullopt;
  AppendHundredths(numbers, *currency, amount, false, reading);
  return reading;
}

std::optional<Reading> ReadMoney(const NumberWords& numbers, std::string_view text, size_t at,
                                 bool article) {
  const Currency* currency = FindCurrency(text, at);
  if (currency == nullptr) return std::nullopt;
  // Codes and "Rs." stand apart, "$" may.
  size_t begin = at + currency->sign.size();
  const bool apart = IsAsciiLetter(currency->sign[0]);
  const bool behind_number = at > 1 && text[at - 1] == ' ' && IsAsciiDigit(text[at - 2]);
  if ((apart || !behind_number) && ByteAt(text, begin) == ' ') ++begin;
  // Losses stand in brackets: "$(4.2) million".
  // "$-5" is below nothing, too.
  const bool loss = ByteAt(text, begin) == '(';
  const bool minus = ByteAt(text, begin) == '-' && IsAsciiDigit(ByteAt(text, begin + 1));
  if (minus) ++begin;
  auto first = ParseAmount(text, begin + (loss ? 1 : 0));
  if (!first || (loss && ByteAt(text, first->end) != ')')) return std::nullopt;
  Amount amount = *std::move(first);
  if (loss) ++amount.end;
  if (GroupsThousands(text, *currency, amount, amount.end)) {
    amount.whole += amount.fraction;
    amount.fraction.clear();
  }
  Reading reading{amount.end, {}};
  if (loss || minus) reading.Append("minus");
  if (const size_t dash = RangeDashBytes(text, amount.end); dash > 0) {
    size_t second_at = amount.end + dash;
    second_at += CurrencySignBytes(text, second_at);
    if (auto second = ParseAmount(text, second_at)) {
      if (amount.fraction.size() == 2 && !currency->minor_one.empty()) {
        AppendHundredths(numbers, *currency, amount, false, reading);
      } else {
        reading.Append(AmountWords(numbers, amount));
      }
      reading.Append("to");
      amount = *std::move(second);
      reading.end = amount.end;
    }
  }
  if (const std::string_view scale = TakeScale(text, reading.end); !scale.empty()) {
    reading.Append(AmountWords(numbers, amount));
    reading.Append(scale);
    // "$5M-10M".
    const size_t dash = RangeDashBytes(text, reading.end);
    const auto last = dash > 0 ? ParseAmount(text, reading.end + dash) : std::nullopt;
    if (size_t end = last ? last->end : 0; last) {
      if (const std::string_view second = TakeScale(text, end); !second.empty()) {
        reading.Append("to");
        reading.Append(AmountWords(numbers, *last));
        reading.Append(second);
        reading.end = end;
      }
    }
    currency = TakeCode(text, currency, reading.end);
    reading.AppendEach(IsAttributive(text, reading.end, article) ? currency->one : currency->many);
    return reading;
  }
  // "£1,000s".
  const std::string_view multiples = MultiplesOf(amount);
  if (!multiples.empty() && ByteAt(text, reading.end) == 's' &&
      !IsAsciiAlnum(ByteAt(text, reading.end + 1))) {
    ++reading.end;
    reading.AppendEach(multiples);
    reading.Append("of");
    reading.AppendEach(currency->many);
    return reading;
  }
  currency = TakeCode(text, currency, reading.end);
  const bool hundredths = amount.fraction.size() == 2 && !currency->minor_one.empty();
  if (!hundredths) {
    reading.Append(AmountWords(numbers, amount));
    const bool one = amount.IsOne() || IsAttributive(text, reading.end, article);
    reading.AppendEach(one ? currency->one : currency->many);
  } else {
    AppendHundredths(numbers, *currency, amount, IsAttributive(text, reading.end, article),
                     reading);
  }
  TakePerWhat(text, reading);
  return reading;
}

}  // namespace millrace::models
