// The part of PieceModel in the module: the only file that is linked with libsentencepiece.

#include <sentencepiece_processor.h>

#include <memory>

#include "models/translation/piece_model.h"

namespace millrace::translation {
namespace {

class SentencePieceModel final : public PieceModel {
 public:
  // Returns false if it failed, and shows why.
  bool Load(std::string_view bytes, TakeText take_error) {
    const auto status = processor_.LoadFromSerializedProto(bytes);
    if (!status.ok()) take_error(status.error_message());
    return status.ok();
  }

  int size() const override { return processor_.GetPieceSize(); }
  int32_t IdOf(std::string_view piece) const override { return processor_.PieceToId(piece); }
  bool IsUnknown(int32_t id) const override { return processor_.IsUnknown(id); }

 private:
  void ShowText(int32_t id, TakeText take) const override { take(processor_.IdToPiece(id)); }

  void ShowIds(std::string_view text,
               absl::FunctionRef<void(std::span<const int32_t>)> take) const override {
    std::vector<int32_t> ids;
    // Encode fails only while no model is loaded.
    processor_.Encode(text, &ids).IgnoreError();
    take(ids);
  }

  void ShowPieces(std::string_view text,
                  absl::FunctionRef<void(std::string_view, size_t)> take) const override {
    const auto aligned = processor_.EncodeAsImmutableProto(text);
    for (const auto& piece : aligned.pieces()) take(piece.piece(), piece.begin());
  }

  void ShowDecoded(std::span<const int32_t> ids, TakeText take) const override {
    std::string text;
    processor_.Decode(std::vector<int>(ids.begin(), ids.end()), &text).IgnoreError();
    take(text);
  }

  sentencepiece::SentencePieceProcessor processor_;
};

}  // namespace
}  // namespace millrace::translation

// LoadPieceModel finds this function by its name. Returns null if it fails, and shows why.
extern "C" millrace::translation::PieceModel* MillraceLoadPieceModel(
    std::string_view bytes, millrace::translation::PieceModel::TakeText take_error) {
  auto model = std::make_unique<millrace::translation::SentencePieceModel>();
  return model->Load(bytes, take_error) ? model.release() : nullptr;
}
