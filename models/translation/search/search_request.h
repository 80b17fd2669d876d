#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/core/search_overrides.h"
#include "models/translation/search/search_options.h"

namespace millrace::translation {

// Returns the model's own options with the request's overrides. InvalidArgument names the field,
// its value and what is allowed.
absl::StatusOr<SearchOptions> SearchFor(const SearchOptions& own,
                                        const models::SearchOverrides& wanted);

// Checks a request for a model that only searches greedily: returns InvalidArgument that names the
// field which it does not support.
absl::Status CheckGreedy(const models::SearchOverrides& wanted);

}  // namespace millrace::translation
