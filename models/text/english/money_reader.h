#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/amount.h"
#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// Reads a sum of money that begins with its sign: "$3.50", "£2m", "€1,000", "US$5 billion",
// "$5-10", "USD 5,000". article: a noun may follow, to which the sum belongs: "a $5 bill".
// Thread-safe; time linear in the digits.
std::optional<Reading> ReadMoney(const NumberWords& numbers, std::string_view text, size_t at,
                                 bool article);

// Reads an amount with hundredths whose currency is behind it: "3,50 €". Thread-safe.
std::optional<Reading> ReadMoneyBehind(const NumberWords& numbers, std::string_view text,
                                       const Amount& amount);

// Returns the bytes of a currency sign at `at`, 0 if there is none.
size_t CurrencySignBytes(std::string_view text, size_t at);
// Returns the name of a currency by its sign, such as "dollars"; empty if it is no sign.
std::string_view CurrencyName(std::string_view sign, bool one);

}  // namespace millrace::models
