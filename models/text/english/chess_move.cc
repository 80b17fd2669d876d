#include "models/text/english/chess_move.h"

#include "models/text/ascii.h"
#include "models/text/english/letter_word.h"
#include "models/text/english/word_kinds.h"
#include "models/text/sign_names.h"

namespace millrace::models {
namespace {

bool IsFile(char c) { return c >= 'a' && c <= 'h'; }
bool IsRank(char c) { return c >= '1' && c <= '8'; }

constexpr SignName<std::string_view> kPieceNames[] = {
    {U"B", "bishop"}, {U"K", "king"}, {U"N", "knight"}, {U"Q", "queen"}, {U"R", "rook"}};

std::string_view PieceName(char c) {
  return NameOfSign(kPieceNames, static_cast<unsigned char>(c));
}

// The parts of a move; end is 0 if there is none.
struct Move {
  size_t end = 0;
  std::string_view piece;
  std::string_view from;  // the file or rank that tells two pieces apart
  bool takes = false;
  size_t square = 0;  // where its two bytes are
  std::string_view becomes;
};

Move FindMove(std::string_view text, size_t at) {
  Move move;
  move.piece = PieceName(ByteAt(text, at));
  size_t end = at + (move.piece.empty() ? 0 : 1);
  const char next = ByteAt(text, end + 1);
  const bool tells_apart = IsFile(ByteAt(text, end)) || IsRank(ByteAt(text, end));
  if (tells_apart && (next == 'x' || (IsFile(next) && !move.piece.empty())))
    move.from = text.substr(end++, 1);
  move.takes = ByteAt(text, end) == 'x';
  if (move.takes) ++end;
  move.square = end;
  if (!IsFile(ByteAt(text, end)) || !IsRank(ByteAt(text, end + 1))) return {};
  end += 2;
  if (ByteAt(text, end) == '=') {
    move.becomes = PieceName(ByteAt(text, end + 1));
    if (move.becomes.empty()) return {};
    end += 2;
  }
  if (IsAsciiAlnum(ByteAt(text, end))) return {};
  move.end = end;
  return move;
}

// Returns true if the number of a move or another move is before or behind.
bool IsInGame(std::string_view text, size_t at, size_t end) {
  if (at > 1 && text[at - 1] == '.' && (IsAsciiDigit(text[at - 2]) || text[at - 2] == '.'))
    return true;
  if (at > 2 && text[at - 1] == ' ') {
    if (text[at - 2] == '.' && IsAsciiDigit(text[at - 3])) return true;
    constexpr size_t kLongestMove = 10;
    size_t before = at - 1;
    while (before > 0 && at - before < kLongestMove && text[before - 1] != ' ' &&
           text[before - 1] != '.')
      --before;
    if (FindMove(text, before).end > 0) return true;
  }
  if (ByteAt(text, end) == '+' || ByteAt(text, end) == '#') ++end;
  if (ByteAt(text, end) == ',') ++end;
  return ByteAt(text, end) == ' ' && FindMove(text, end + 1).end > 0;
}

}  // namespace

std::optional<Reading> ReadChessMove(const NumberWords& numbers, std::string_view text, size_t at) {
  if (text.substr(at, 3) == "O-O") {
    const bool far = text.substr(at + 3, 2) == "-O";
    const size_t end = at + (far ? 5 : 3);
    if (IsAsciiAlnum(ByteAt(text, end)) || ByteAt(text, end) == '-') return std::nullopt;
    return Reading{end, {"castles", far ? "queenside" : "kingside"}};
  }
  const Move move = FindMove(text, at);
  if (move.end == 0) return std::nullopt;
  const char last = ByteAt(text, move.end);
  const bool check = last == '+' || last == '#';
  if (move.piece.empty() && !move.takes && move.becomes.empty() && !check) return std::nullopt;
  // "Ne" and "Ra" are elements, "Bb7" is a chord, and "b5+" may be an age.
  const bool unsure = move.piece.empty()
                          ? !move.takes && move.becomes.empty()
                          : !move.takes && IsOfKind(text.substr(at, 2), "unsure-move");
  if (unsure && !IsInGame(text, at, move.end)) return std::nullopt;
  Reading reading{move.end + (check ? 1 : 0), {}};
  if (!move.piece.empty()) reading.Append(move.piece);
  if (!move.from.empty())
    reading.Append(IsRank(move.from[0]) ? numbers.Digits(move.from)[0] : Dotted(move.from));
  if (move.takes) reading.Append("takes");
  reading.Append(Dotted(text.substr(move.square, 1)));
  reading.Append(numbers.Digits(text.substr(move.square + 1, 1)));
  if (!move.becomes.empty()) {
    reading.AppendEach("promotes to");
    reading.Append(move.becomes);
  }
  if (check) reading.Append(last == '+' ? "check" : "checkmate");
  return reading;
}

}  // namespace millrace::models
