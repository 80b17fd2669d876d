#include "models/translation/load_piece_model.h"

#include <dlfcn.h>

#include "models/core/regular_file.h"
#include "models/core/strings.h"

namespace millrace::translation {
namespace {

using LoadFunction = PieceModel* (*)(std::string_view bytes, std::string* error);

// Loads the module, which stays loaded until the process exits.
absl::StatusOr<LoadFunction> FindLoader() {
  int flags = RTLD_NOW | RTLD_LOCAL;
  // The module's own symbols come before the process's; see the class comment. The sanitizers do
  // not work with this flag and do not need it, because their programs contain no other Protobuf.
  // On macOS symbols are bound by library anyway.
#if defined(RTLD_DEEPBIND) && !defined(MILLRACE_SANITIZED)
  flags |= RTLD_DEEPBIND;
#endif
#ifdef __APPLE__
  constexpr const char* kBesideTheProgram = "@executable_path/" MILLRACE_PIECE_MODEL_MODULE;
#else
  constexpr const char* kBesideTheProgram = "$ORIGIN/" MILLRACE_PIECE_MODEL_MODULE;
#endif
  std::string error;
  // The module is beside an installed program. Tests, which are in folders of their own, find it
  // where it was built.
  for (const char* path :
       {kBesideTheProgram, MILLRACE_BUILD_FOLDER "/" MILLRACE_PIECE_MODEL_MODULE}) {
    if (void* module = dlopen(path, flags)) {
      return reinterpret_cast<LoadFunction>(dlsym(module, "MillraceLoadPieceModel"));
    }
    error = dlerror();
  }
  return absl::DataLossError(StrCat("cannot load the SentencePiece module: ", error));
}

}  // namespace

absl::StatusOr<std::unique_ptr<const PieceModel>> LoadPieceModel(
    const std::filesystem::path& path) {
  static const absl::StatusOr<LoadFunction> load = FindLoader();
  if (!load.ok()) return load.status();
  // The file is read here, because the library would accept any size and abort when memory runs
  // out.
  const absl::StatusOr<std::string> bytes =
      models::ReadRegularFile(path, models::kMaxVocabularyBytes);
  if (!bytes.ok()) return absl::DataLossError(bytes.status().message());
  std::string error;
  std::unique_ptr<const PieceModel> model((*load)(*bytes, &error));
  if (model == nullptr) {
    return absl::DataLossError(StrCat(path.string(), ": not a SentencePiece model: ", error));
  }
  return model;
}

}  // namespace millrace::translation
