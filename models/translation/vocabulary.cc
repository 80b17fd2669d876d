#include "models/translation/vocabulary.h"

#include <algorithm>
#include <utility>

#include "models/core/errors.h"
#include "models/core/utf8.h"
#include "models/text/unicode.h"
#include "models/translation/load_piece_model.h"

namespace millrace::translation {
namespace {

constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581, how SentencePiece writes a space
constexpr size_t kCodePoints = 0x110000;
// Tokens are hardly ever longer than this, in bytes of text. Encoding no more than max_tokens of
// these keeps the time for long texts linear.
constexpr size_t kBytesPerToken = 16;

// Returns at most `limit` bytes of the text, cut before white space if possible and never inside a
// code point.
std::string_view Window(std::string_view text, size_t limit) {
  if (text.size() <= limit) return text;
  size_t end = limit;
  while (end > 0 && !models::IsSpace(models::DecodeAt(text, end).value)) --end;
  if (end > 0) return text.substr(0, end);
  end = limit;
  while (end > 1 && IsContinuationByte(text[end])) --end;
  return text.substr(0, end);
}

}  // namespace

Vocabulary::Vocabulary(std::shared_ptr<const PieceModel> pieces,
                       std::unique_ptr<const TokenTable> table)
    : pieces_(std::move(pieces)),
      table_(std::move(table)),
      space_(table_ ? table_->TokenOf(kSpace) : pieces_->IdOf(kSpace)),
      fits_(std::make_unique<std::atomic<FitPage*>[]>(kFitPages)) {}

Vocabulary::~Vocabulary() {
  for (size_t page = 0; page < kFitPages; ++page) delete fits_[page].load();
}

absl::StatusOr<std::unique_ptr<const Vocabulary>> Vocabulary::Load(
    const std::filesystem::path& path, int64_t tokens) {
  MILLRACE_ASSIGN_OR_RETURN(auto pieces, LoadPieceModel(path));
  if (pieces->size() != tokens) {
    return DataLoss(path.string(), ": ", pieces->size(), " pieces, but the weights have ", tokens,
                    " tokens");
  }
  return std::unique_ptr<const Vocabulary>(new Vocabulary(std::move(pieces), nullptr));
}

absl::StatusOr<std::unique_ptr<const Vocabulary>> Vocabulary::LoadWithTable(
    const std::filesystem::path& pieces, const std::filesystem::path& table, int64_t tokens,
    int32_t unknown) {
  MILLRACE_ASSIGN_OR_RETURN(auto model, LoadPieceModel(pieces));
  MILLRACE_ASSIGN_OR_RETURN(auto loaded, TokenTable::Load(table, *model, tokens, unknown));
  return std::unique_ptr<const Vocabulary>(new Vocabulary(std::move(model), std::move(loaded)));
}

std::vector<int32_t> Vocabulary::TokensOf(std::string_view text) const {
  std::vector<int32_t> ids = pieces_->Encode(text);
  if (!table_) return ids;
  if (std::ranges::none_of(ids, [this](int32_t id) { return pieces_->IsUnknown(id); })) {
    for (int32_t& id : ids) id = table_->TokenOfPiece(id);
    return ids;
  }
  // A letter that this language's pieces lack may be a token of the other language; it is looked up
  // by its text.
  std::vector<int32_t> tokens;
  for (const PieceModel::Piece& piece : pieces_->EncodeWithPlaces(text))
    tokens.push_back(table_->TokenOf(piece.text));
  return tokens;
}

Vocabulary::Prefix Vocabulary::Encode(std::string_view text, size_t max_tokens) const {
  const std::string_view window = Window(text, max_tokens * kBytesPerToken);
  Prefix prefix;
  prefix.bytes = window.size();
  prefix.tokens = TokensOf(window);
  if (prefix.tokens.size() <= max_tokens) return prefix;
  // There are too many tokens: find where the pieces begin in the text.
  const std::vector<PieceModel::Piece> aligned = pieces_->EncodeWithPlaces(window);
  size_t cut = max_tokens;
  while (cut > 1 && !aligned[cut].text.starts_with(kSpace) &&
         !aligned[cut - 1].text.ends_with(kSpace))
    --cut;
  if (cut <= 1) cut = max_tokens;
  // One code point can give several pieces. Never cut inside it, and take at least one.
  while (cut < aligned.size() && aligned[cut].begin == 0) ++cut;
  if (cut == aligned.size()) {
    prefix.tokens.resize(max_tokens);
    return prefix;
  }
  prefix.bytes = aligned[cut].begin;
  prefix.tokens.resize(std::min(cut, max_tokens));
  return prefix;
}

std::vector<size_t> Vocabulary::PlacesOf(std::string_view text) const {
  std::vector<size_t> places;
  for (const PieceModel::Piece& piece : pieces_->EncodeWithPlaces(text)) {
    size_t at = piece.begin;
    for (models::CodePoint c = models::DecodeAt(text, at); c.bytes > 0 && models::IsSpace(c.value);
         c = models::DecodeAt(text, at))
      at += c.bytes;
    places.push_back(at);
  }
  return places;
}

std::vector<size_t> Vocabulary::EndsOf(std::span<const int32_t> tokens) const {
  // The text of a token can depend on the few tokens before it, because it may be a part of a
  // character. These are decoded with it, back to a token that is complete by itself.
  constexpr size_t kFewestBefore = 4;
  constexpr std::string_view kPartOfCharacter = "\uFFFD";
  std::vector<size_t> ends;
  size_t first = 0;   // the index of the first token that is decoded with the next
  size_t before = 0;  // bytes of the text before these tokens
  for (size_t i = 0; i < tokens.size(); ++i) {
    const size_t end = before + Decode(tokens.subspan(first, i + 1 - first)).size();
    ends.push_back(ends.empty() ? end : std::max(end, ends.back()));
    if (i - first < kFewestBefore) continue;
    const std::string alone = Decode(tokens.subspan(i, 1));
    if (alone.empty() || alone.find(kPartOfCharacter) != std::string::npos) continue;
    first = i;
    before = end - alone.size();
  }
  const std::string whole = Decode(tokens);
  for (size_t& end : ends) {
    end = std::min(end, whole.size());
    while (end < whole.size() && IsContinuationByte(whole[end])) --end;
  }
  return ends;
}

std::string Vocabulary::Decode(std::span<const int32_t> tokens) const {
  return table_ ? pieces_->Join(table_->Text(tokens)) : pieces_->Decode(tokens);
}

bool Vocabulary::AnyKnown(std::span<const int32_t> tokens) const {
  return std::ranges::any_of(
      tokens, [this](int32_t token) { return token != space_ && !IsUnknown(token); });
}

bool Vocabulary::IsUnknown(int32_t token) const {
  return table_ ? token == table_->unknown() : pieces_->IsUnknown(token);
}

std::vector<std::string_view> Vocabulary::UnknownParts(std::string_view text) const {
  const std::vector<PieceModel::Piece> pieces = pieces_->EncodeWithPlaces(text);
  std::vector<std::string_view> parts;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const int32_t token = table_ ? table_->TokenOf(pieces[i].text) : pieces_->IdOf(pieces[i].text);
    if (!IsUnknown(token)) continue;
    size_t begin = pieces[i].begin;
    const size_t end = i + 1 < pieces.size() ? pieces[i + 1].begin : text.size();
    while (begin < end && models::IsSpace(models::DecodeAt(text, begin).value))
      begin += models::DecodeAt(text, begin).bytes;
    if (begin < end) parts.push_back(text.substr(begin, end - begin));
  }
  return parts;
}

CharacterFit Vocabulary::FitOf(char32_t c) const {
  if (c >= kCodePoints) return CharacterFit::kUnknown;
  std::atomic<uint8_t>& fit = FitPageOf(c)[c % kFitsOfPage];
  if (const uint8_t known = fit.load(std::memory_order_relaxed); known != 0)
    return static_cast<CharacterFit>(known - 1);
  const CharacterFit found = TryCharacter(c);
  // Threads that try the same character find the same.
  fit.store(static_cast<uint8_t>(static_cast<uint8_t>(found) + 1), std::memory_order_relaxed);
  return found;
}

Vocabulary::FitPage& Vocabulary::FitPageOf(char32_t c) const {
  std::atomic<FitPage*>& place = fits_[c / kFitsOfPage];
  FitPage* page = place.load(std::memory_order_acquire);
  if (page != nullptr) return *page;
  auto made = std::make_unique<FitPage>();
  // Another thread may have been faster; `page` is then what it has put there.
  if (place.compare_exchange_strong(page, made.get(), std::memory_order_acq_rel))
    return *made.release();
  return *page;
}

CharacterFit Vocabulary::TryCharacter(char32_t c) const {
  const std::string character = models::EncodeUtf8(c);
  const CharacterFit fit = TryText(character);
  // The space that is added before a text may be unknown by itself although the character is known.
  return fit == CharacterFit::kUnknown ? TryText("a" + character) : fit;
}

CharacterFit Vocabulary::TryText(const std::string& text) const {
  const std::vector<int32_t> tokens = TokensOf(text);
  const bool unknown =
      std::ranges::any_of(tokens, [this](int32_t token) { return IsUnknown(token); });
  if (unknown) return CharacterFit::kUnknown;
  return Decode(tokens) == text ? CharacterFit::kKnown : CharacterFit::kRespelled;
}

}  // namespace millrace::translation
