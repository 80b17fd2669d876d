#include "models/translation/load_piece_model.h"

#include <dlfcn.h>
#include <openssl/evp.h>

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "models/core/errors.h"
#include "models/core/regular_file.h"
#include "models/translation/bpe_model.h"
#include "mps_runtime/base/mutex.h"
#include "mps_runtime/base/thread_annotations.h"

namespace millrace::translation {
namespace {

using LoadFunction = PieceModel* (*)(std::string_view bytes, PieceModel::TakeText take_error);

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
  return DataLoss("cannot load the SentencePiece module: ", error);
}

// The piece models that are in use, by the SHA-256 of their files. Thread-safe.
class SharedPieceModels {
 public:
  // Returns null if none with this key is in use.
  std::shared_ptr<const PieceModel> Find(const std::string& key) {
    MutexLock lock(mu_);
    const auto found = models_.find(key);
    return found == models_.end() ? nullptr : found->second.lock();
  }

  // Returns the model that is shared from now on: the given one, unless another thread was faster.
  std::shared_ptr<const PieceModel> Add(const std::string& key,
                                        std::shared_ptr<const PieceModel> model) {
    MutexLock lock(mu_);
    std::erase_if(models_, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<const PieceModel>& known = models_[key];
    if (auto others = known.lock()) return others;
    known = model;
    return model;
  }

 private:
  Mutex mu_;
  std::map<std::string, std::weak_ptr<const PieceModel>> models_ MILLRACE_GUARDED_BY(mu_);
};

// Returns the SHA-256 of the bytes, or an empty string where OpenSSL has none.
std::string DigestOf(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
    return {};
  return {reinterpret_cast<const char*>(digest.data()), size};
}

}  // namespace

absl::StatusOr<std::shared_ptr<const PieceModel>> LoadPieceModel(
    const std::filesystem::path& path) {
  static const absl::StatusOr<LoadFunction> load = FindLoader();
  if (!load.ok()) return load.status();
  // The file is read here, because the library would accept any size and abort when memory runs
  // out.
  const absl::StatusOr<std::string> bytes =
      models::ReadRegularFile(path, models::kMaxVocabularyBytes);
  if (!bytes.ok()) return DataLoss(bytes.status().message());
  static auto& shared = *new SharedPieceModels;
  const std::string key = DigestOf(*bytes);
  if (!key.empty()) {
    if (auto model = shared.Find(key)) return model;
  }
  if (bytes->starts_with('{')) {
    auto model = BpeModel::Read(*bytes);
    if (!model.ok()) return DataLoss(path.string(), ": ", model.status().message());
    return key.empty() ? *std::move(model) : shared.Add(key, *std::move(model));
  }
  std::string error;
  std::shared_ptr<const PieceModel> model(
      (*load)(*bytes, [&error](std::string_view shown) { error = shown; }));
  if (model == nullptr) {
    return DataLoss(path.string(), ": not a SentencePiece model: ", error);
  }
  return key.empty() ? model : shared.Add(key, std::move(model));
}

}  // namespace millrace::translation
