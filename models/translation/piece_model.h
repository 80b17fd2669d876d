#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::translation {

// A SentencePiece model. Immutable, so thread-safe.
//
// The library is linked into a module that is loaded at run time: Debian's libsentencepiece
// contains an older Protobuf and exports its symbols, so that it and the server's Protobuf would
// call into each other.
class PieceModel {
 public:
  struct Piece {
    std::string text;
    size_t begin = 0;  // the byte of the input at which it begins
  };

  virtual ~PieceModel() = default;

  virtual int size() const = 0;
  virtual int32_t IdOf(std::string_view piece) const = 0;
  virtual std::string TextOf(int32_t id) const = 0;
  virtual bool IsUnknown(int32_t id) const = 0;
  virtual std::vector<int32_t> Encode(std::string_view text) const = 0;
  // Returns the same pieces with their positions in the text; slower.
  virtual std::vector<Piece> EncodeWithPlaces(std::string_view text) const = 0;
  virtual std::string Decode(const std::vector<int32_t>& ids) const = 0;
};

}  // namespace millrace::translation
