#include "server/scheduling/model_directory.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "models/core/errors.h"
#include "models/core/strings.h"

namespace millrace::server {
namespace {

constexpr size_t kMaxShownName = 64;

std::string Names(const std::vector<std::shared_ptr<ServedModel>>& models) {
  if (models.empty()) return "none";
  return absl::StrJoin(models, ", ", [](std::string* out, const auto& model) {
    absl::StrAppend(out, model->info().name);
  });
}

// Lists some of the languages, for an error message.
std::string Shown(const std::vector<std::string>& languages) {
  constexpr size_t kMost = 8;
  const size_t shown = std::min(languages.size(), kMost);
  std::string list =
      absl::StrJoin(languages.begin(), languages.begin() + static_cast<ptrdiff_t>(shown), "|");
  if (shown < languages.size()) absl::StrAppend(&list, "|... (", languages.size(), ")");
  return list;
}

// Lists the directions of the translators among the models, for an error message.
std::string Directions(const std::vector<std::shared_ptr<ServedModel>>& models) {
  constexpr size_t kMost = 16;
  std::vector<std::string> directions;
  for (const auto& model : models) {
    const models::ModelInfo& info = model->info();
    if (info.task() != models::Task::kTranslation) continue;
    directions.push_back(StrCat(Shown(SourceLanguages(info.translation())), " to ",
                                Shown(TargetLanguages(info.translation()))));
  }
  if (directions.empty()) return "none is loaded";
  const size_t more = directions.size() - std::min(directions.size(), kMost);
  directions.resize(directions.size() - more);
  std::string list = StrCat("loaded ones do ", absl::StrJoin(directions, ", "));
  if (more > 0) absl::StrAppend(&list, " and ", more, " more");
  return list;
}

}  // namespace

absl::StatusOr<std::shared_ptr<ServedModel>> ModelDirectory::Find(std::string_view name,
                                                                  std::string_view version) const {
  {
    MutexLock lock(mu_);
    auto found = models_.find(name);
    if (found == models_.end()) {
      found = std::ranges::find_if(models_, [name](const auto& model) {
        return absl::EqualsIgnoreCase(model.first, View(name));
      });
    }
    if (found != models_.end()) {
      if (version.empty() || version == StrCat(found->second->info().version)) return found->second;
      return NotFound("model_version: '", version.substr(0, kMaxShownName), "' of model '", name,
                      "' is not loaded; ", found->second->info().version, " is");
    }
  }
  return NotFound("model: '", name.substr(0, kMaxShownName),
                  "' is not loaded; loaded are: ", Names(All()));
}

absl::StatusOr<std::shared_ptr<ServedModel>> ModelDirectory::FindForTask(
    models::Task task, std::string_view name, std::string_view version) const {
  if (!name.empty()) {
    auto model = Find(name, version);
    if (absl::IsNotFound(model.status()) && !Find(name, "").ok()) {
      return NotFound("model: '", name.substr(0, kMaxShownName), "' is not loaded; loaded for ",
                      models::ToString(task), " are: ", Names(AllForTask(task)));
    }
    if (model.ok() && (*model)->info().task() != task) {
      return FailedPrecondition("model: '", name, "' is a model for ",
                                models::ToString((*model)->info().task()), ", not for ",
                                models::ToString(task));
    }
    return model;
  }
  const std::vector<std::shared_ptr<ServedModel>> candidates = AllForTask(task);
  if (candidates.size() == 1) return candidates.front();
  if (candidates.empty())
    return NotFound("model: no model for ", models::ToString(task), " is loaded");
  return InvalidArgument("model: is empty and several could be meant: ", Names(candidates));
}

absl::StatusOr<std::shared_ptr<ServedModel>> ModelDirectory::FindTranslator(
    std::string_view source, std::string_view target) const {
  std::vector<std::shared_ptr<ServedModel>> candidates = All();
  std::erase_if(candidates, [&](const auto& model) {
    const models::ModelInfo& info = model->info();
    return info.task() != models::Task::kTranslation ||
           (!source.empty() && !models::HasLanguage(SourceLanguages(info.translation()), source)) ||
           (!target.empty() && !models::HasLanguage(TargetLanguages(info.translation()), target));
  });
  if (candidates.size() == 1) return candidates.front();
  if (candidates.empty()) {
    std::vector<std::string> fields;
    std::string wanted;
    if (!source.empty()) {
      fields.emplace_back("source_language");
      wanted += StrCat(" from '", source.substr(0, kMaxShownName), "'");
    }
    if (!target.empty()) {
      fields.emplace_back("target_language");
      wanted += StrCat(" to '", target.substr(0, kMaxShownName), "'");
    }
    return NotFound(fields.empty() ? "model" : absl::StrJoin(fields, ", "),
                    ": no loaded model translates", wanted, "; ", Directions(All()));
  }
  return InvalidArgument(
      "target_language, model: ", target.empty() ? "are empty" : "say too little",
      ", several models could be meant: ", Names(candidates), "; name one, or the ",
      target.empty() ? "target language" : "source language");
}

// Callers destroy what they get outside the lock, because it may free weights.

std::shared_ptr<ServedModel> ModelDirectory::Put(std::shared_ptr<ServedModel> model) {
  MutexLock lock(mu_);
  std::shared_ptr<ServedModel>& slot = models_[model->info().name];
  ++changes_;
  return std::exchange(slot, std::move(model));
}

std::shared_ptr<ServedModel> ModelDirectory::Remove(std::string_view name) {
  MutexLock lock(mu_);
  const auto found = models_.find(name);
  if (found == models_.end()) return nullptr;
  std::shared_ptr<ServedModel> old = std::move(found->second);
  models_.erase(found);
  ++changes_;
  return old;
}

std::shared_ptr<ServedModel>* ModelDirectory::PlaceOf(const ServedModel& model) {
  const auto found = models_.find(model.info().name);
  return found != models_.end() && found->second.get() == &model ? &found->second : nullptr;
}

bool ModelDirectory::Replace(const std::shared_ptr<ServedModel>& current,
                             std::shared_ptr<ServedModel> next) {
  MutexLock lock(mu_);
  std::shared_ptr<ServedModel>* const place = PlaceOf(*current);
  if (place == nullptr) return false;
  *place = std::move(next);
  ++changes_;
  return true;
}

bool ModelDirectory::ReplaceUnused(const std::shared_ptr<ServedModel>& current,
                                   std::shared_ptr<ServedModel> next) {
  MutexLock lock(mu_);
  std::shared_ptr<ServedModel>* const place = PlaceOf(*current);
  // Requests get the model here, under the lock, so a count of two does not rise meanwhile.
  if (place == nullptr || place->use_count() != 2) return false;
  *place = std::move(next);
  ++changes_;
  return true;
}

bool ModelDirectory::Load(const std::shared_ptr<ServedModel>& idle,
                          std::unique_ptr<const models::Model>& model, LoadCost cost) {
  MutexLock lock(mu_);
  if (PlaceOf(*idle) == nullptr || idle->loaded()) return false;
  idle->Load(std::move(model), cost);
  ++changes_;
  return true;
}

uint64_t ModelDirectory::changes() const {
  MutexLock lock(mu_);
  return changes_;
}

bool ModelDirectory::empty() const {
  MutexLock lock(mu_);
  return models_.empty();
}

std::vector<std::shared_ptr<ServedModel>> ModelDirectory::All() const {
  MutexLock lock(mu_);
  std::vector<std::shared_ptr<ServedModel>> all;
  all.reserve(models_.size());
  for (const auto& [name, model] : models_) all.push_back(model);
  return all;
}

std::vector<std::shared_ptr<ServedModel>> ModelDirectory::AllForTask(models::Task task) const {
  std::vector<std::shared_ptr<ServedModel>> all = All();
  std::erase_if(all, [task](const auto& model) { return model->info().task() != task; });
  return all;
}

}  // namespace millrace::server
