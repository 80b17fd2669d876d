#pragma once

namespace millrace::models {

// Work of texts (Model::EstimateWork) is counted in bytes. A sentence has so much beside its own
// bytes: what it takes however short it is.
inline constexpr double kSentenceWork = 16;

}  // namespace millrace::models
