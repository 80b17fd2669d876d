#pragma once

#include <filesystem>
#include <memory>

#include "absl/status/statusor.h"
#include "models/translation/piece_model.h"

namespace millrace::translation {

// Loads a SentencePiece model or, from JSON, a BpeModel. Files with the same content share one
// object while it is in use: both directions of a Firefox pair have one vocabulary, which takes 4
// MB. DATA_LOSS when the module cannot be loaded or the file is not such a model. Thread-safe.
// Stands apart from PieceModel because the module cannot include abseil: SentencePiece has headers
// of its own by the same names.
absl::StatusOr<std::shared_ptr<const PieceModel>> LoadPieceModel(const std::filesystem::path& path);

}  // namespace millrace::translation
