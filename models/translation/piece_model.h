#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"

namespace millrace::translation {

// A way to divide texts into pieces: a SentencePiece model, or a BpeModel. Immutable, so
// thread-safe.
//
// The library is linked into a module that is loaded at run time: Debian's libsentencepiece
// contains an older Protobuf and exports its symbols, so that it and the server's Protobuf would
// call into each other. The module's own symbols come first there, those of its allocator too, so
// neither side frees what the other has allocated: the module shows its results to functions of the
// program, which copy them.
class PieceModel {
 public:
  struct Piece {
    std::string text;
    size_t begin = 0;  // the byte of the input at which it begins
  };
  using TakeText = absl::FunctionRef<void(std::string_view)>;

  virtual ~PieceModel() = default;

  virtual int size() const = 0;
  virtual int32_t IdOf(std::string_view piece) const = 0;
  virtual bool IsUnknown(int32_t id) const = 0;

  std::string TextOf(int32_t id) const {
    std::string text;
    ShowText(id, [&](std::string_view shown) { text = shown; });
    return text;
  }
  std::vector<int32_t> Encode(std::string_view text) const {
    std::vector<int32_t> ids;
    ShowIds(text, [&](std::span<const int32_t> shown) { ids.assign(shown.begin(), shown.end()); });
    return ids;
  }
  // Returns the same pieces with their positions in the text; slower.
  std::vector<Piece> EncodeWithPlaces(std::string_view text) const {
    std::vector<Piece> pieces;
    ShowPieces(text, [&](std::string_view piece, size_t begin) {
      pieces.push_back({std::string(piece), begin});
    });
    return pieces;
  }
  // Returns the text that words, with a space between them, are.
  std::string Join(std::string_view words) const {
    std::string text;
    ShowJoined(words, [&](std::string_view shown) { text = shown; });
    return text;
  }
  std::string Decode(std::span<const int32_t> ids) const {
    std::string text;
    ShowDecoded(ids, [&](std::string_view shown) { text = shown; });
    return text;
  }

 private:
  virtual void ShowText(int32_t id, TakeText take) const = 0;
  virtual void ShowIds(std::string_view text,
                       absl::FunctionRef<void(std::span<const int32_t>)> take) const = 0;
  virtual void ShowPieces(std::string_view text,
                          absl::FunctionRef<void(std::string_view, size_t)> take) const = 0;
  virtual void ShowDecoded(std::span<const int32_t> ids, TakeText take) const = 0;
  virtual void ShowJoined(std::string_view words, TakeText take) const { take(words); }
};

}  // namespace millrace::translation
