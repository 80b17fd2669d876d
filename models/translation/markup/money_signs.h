#pragma once

#include <string_view>
#include <vector>

#include "models/translation/markup/number_repair.h"

namespace millrace::translation {

// Returns corrections of dollars, reais and pesos that a model confused: signs ($, US$, R$, ...)
// before a number of the translation that has another sign in the source. $ and US$ count as the
// same. In order. Linear time.
std::vector<NumberRepair> RepairMoneySigns(std::string_view source, std::string_view target);

}  // namespace millrace::translation
