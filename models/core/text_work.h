#pragma once

namespace millrace::models {

// The work of texts (Model::EstimateWork) is counted in bytes. Each sentence adds this much for
// what it takes however short it is.
inline constexpr double kSentenceWork = 16;

}  // namespace millrace::models
