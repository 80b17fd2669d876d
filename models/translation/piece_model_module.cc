// The part of PieceModel in the module: the only file that is linked with libsentencepiece.

#include <sentencepiece_processor.h>

#include "models/translation/piece_model.h"

namespace millrace::translation {
namespace {

class SentencePieceModel final : public PieceModel {
 public:
  // Returns an empty string, or the reason why it failed.
  std::string Load(std::string_view bytes) {
    const auto status = processor_.LoadFromSerializedProto(bytes);
    return status.ok() ? std::string() : std::string(status.error_message());
  }

  int size() const override { return processor_.GetPieceSize(); }
  int32_t IdOf(std::string_view piece) const override { return processor_.PieceToId(piece); }
  std::string TextOf(int32_t id) const override { return processor_.IdToPiece(id); }
  bool IsUnknown(int32_t id) const override { return processor_.IsUnknown(id); }

  std::vector<int32_t> Encode(std::string_view text) const override {
    std::vector<int32_t> ids;
    // Encode fails only while no model is loaded.
    processor_.Encode(text, &ids).IgnoreError();
    return ids;
  }

  std::vector<Piece> EncodeWithPlaces(std::string_view text) const override {
    const auto aligned = processor_.EncodeAsImmutableProto(text);
    std::vector<Piece> pieces;
    pieces.reserve(aligned.pieces_size());
    for (const auto& piece : aligned.pieces()) pieces.push_back({piece.piece(), piece.begin()});
    return pieces;
  }

  std::string Decode(const std::vector<int32_t>& ids) const override {
    std::string text;
    processor_.Decode(ids, &text).IgnoreError();
    return text;
  }

 private:
  sentencepiece::SentencePieceProcessor processor_;
};

}  // namespace
}  // namespace millrace::translation

// LoadPieceModel finds this function by its name.
extern "C" millrace::translation::PieceModel* MillraceLoadPieceModel(std::string_view bytes,
                                                                     std::string* error) {
  auto model = std::make_unique<millrace::translation::SentencePieceModel>();
  *error = model->Load(bytes);
  return error->empty() ? model.release() : nullptr;
}
