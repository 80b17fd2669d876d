#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/core/search_overrides.h"
#include "models/translation/search/search_options.h"

namespace millrace::translation {

// The search that a request wants of a model with these options of its own. InvalidArgument naming
// the field, its value and what is allowed.
absl::StatusOr<SearchOptions> SearchFor(const SearchOptions& own,
                                        const models::SearchOverrides& wanted);

// For a model that takes the likeliest word each time: refuses what it cannot do, by its field.
absl::Status CheckGreedy(const models::SearchOverrides& wanted);

}  // namespace millrace::translation
