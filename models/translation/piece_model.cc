#include "models/translation/piece_model.h"

#include <dlfcn.h>

#include "models/core/regular_file.h"

namespace millrace::translation {
namespace {

using LoadFunction = PieceModel* (*)(std::string_view bytes, std::string* error);

// Loads the module, which stays loaded until the process exits. Returns null and the reason when it
// cannot be found.
LoadFunction FindLoader(std::string& error) {
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
  // It lies beside an installed program; tests, which lie in folders of their own, find it where it
  // was built.
  for (const char* path :
       {kBesideTheProgram, MILLRACE_BUILD_FOLDER "/" MILLRACE_PIECE_MODEL_MODULE}) {
    if (void* module = dlopen(path, flags)) {
      return reinterpret_cast<LoadFunction>(dlsym(module, "MillraceLoadPieceModel"));
    }
    error = dlerror();
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<const PieceModel> PieceModel::Load(const std::filesystem::path& path,
                                                   std::string& error) {
  static std::string module_error;
  static const LoadFunction load = FindLoader(module_error);
  if (load == nullptr) {
    error = "cannot load the SentencePiece module: " + module_error;
    return nullptr;
  }
  // The file is read here, because the library would accept any size and abort when memory runs
  // out.
  const absl::StatusOr<std::string> bytes =
      models::ReadRegularFile(path, models::kMaxVocabularyBytes);
  if (!bytes.ok()) {
    error = std::string(bytes.status().message());
    return nullptr;
  }
  std::unique_ptr<const PieceModel> model(load(*bytes, &error));
  if (model == nullptr) error = path.string() + ": not a SentencePiece model: " + error;
  return model;
}

}  // namespace millrace::translation
