#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "models/text/japanese/morphological_analyzer.h"
#include "models/text/japanese/prepared_text.h"
#include "models/text/japanese/spoken_unit.h"

namespace millrace::models {

// Returns the units that a text is spoken as: the morphemes of the dictionary, and in their place
// numbers with their counters, names, and words that the dictionary lacks or divides wrongly.
// Thread-safe; linear time.
absl::StatusOr<std::vector<SpokenUnit>> BuildUnits(const MorphologicalAnalyzer& analyzer,
                                                   const PreparedText& prepared);

}  // namespace millrace::models
