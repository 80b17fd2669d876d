#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "absl/status/statusor.h"
#include "models/translation/piece_model.h"
#include "models/translation/text_rules.h"

namespace millrace::translation {

// The words that Moses' scripts make of a text, in the pieces that subword-nmt's merges leave of
// each. The last piece of a word ends with U+2581. A piece has no number: a TokenTable tells it.
class BpeModel final : public PieceModel {
 public:
  // json: what models/convert/argos_bpe.py writes.
  static absl::StatusOr<std::shared_ptr<const PieceModel>> Read(std::string_view json);

  int size() const override { return 0; }
  int32_t IdOf(std::string_view) const override { return 0; }
  bool IsUnknown(int32_t) const override { return true; }

 private:
  BpeModel(TextRules dividing, TextRules joining)
      : dividing_(std::move(dividing)), joining_(std::move(joining)) {}

  void ShowText(int32_t, TakeText) const override {}
  void ShowIds(std::string_view text,
               absl::FunctionRef<void(std::span<const int32_t>)> take) const override;
  void ShowPieces(std::string_view text,
                  absl::FunctionRef<void(std::string_view, size_t)> take) const override;
  void ShowDecoded(std::span<const int32_t>, TakeText) const override {}
  void ShowJoined(std::string_view words, TakeText take) const override;

  // Returns the pieces of a word; the last one without its mark.
  std::vector<std::string> Divide(std::string_view word) const;

  const TextRules dividing_;
  const TextRules joining_;
  std::unordered_map<std::string, size_t> ranks_;  // by both parts with a space between them
  bool own_end_ = false;  // the end of a word is a part of its own, as in subword-nmt before 0.2
};

}  // namespace millrace::translation
