#include "server/scheduling/model_directory.h"

#include <memory>
#include <string>

#include "tests/unit/server/scheduling/fixture.h"

namespace millrace::server {
namespace {

using models::Task;
using testing::FakeModel;
using ::testing::HasSubstr;
using testing::ModelHooks;
using ::testing::Not;

class ModelDirectoryTest : public ::testing::Test {
 protected:
  std::shared_ptr<ServedModel> Add(models::ModelInfo info, ModelHooks hooks = {}) {
    const std::string name = info.name;
    auto model = std::make_shared<ServedModel>(
        std::make_unique<FakeModel>(std::move(info), std::move(hooks)), scheduler_,
        metrics_.ForModel(name));
    directory_.Put(model);
    return model;
  }
  std::shared_ptr<ServedModel> AddInfer(const std::string& name) {
    models::ModelInfo info;
    info.name = name;
    return Add(info);
  }
  std::shared_ptr<ServedModel> AddTranslator(const std::string& name, const std::string& source,
                                             const std::string& target) {
    models::ModelInfo info;
    info.name = name;
    info.details = models::TranslationInfo{.source_language = source, .target_language = target};
    return Add(info);
  }
  std::shared_ptr<ServedModel> AddVoice(const std::string& name) {
    models::ModelInfo info;
    info.name = name;
    info.details = models::SpeechInfo();
    return Add(info);
  }

  // One that nobody loads.
  static std::shared_ptr<ServedModel> MakeIdle(const ServedModel& model) {
    return ServedModel::MakeIdle(model, [](const auto&, Hold::Job) {});
  }

  Metrics metrics_{BuildInfo{}};
  Scheduler scheduler_{{}};
  ModelDirectory directory_;
};

TEST_F(ModelDirectoryTest, FindsByNameAndVersion) {
  const auto model = AddInfer("null");
  EXPECT_EQ(*directory_.Find("null", ""), model);
  EXPECT_EQ(*directory_.Find("null", "1"), model);
}

TEST_F(ModelDirectoryTest, UnknownNameListsWhatThereIs) {
  EXPECT_THAT(MessageOf(directory_.Find("x", "").status()), HasSubstr("loaded are: none"));
  AddInfer("b");
  AddInfer("a");
  const absl::Status status = directory_.Find("x", "").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(MessageOf(status), "model: 'x' is not loaded; loaded are: a, b");
}

TEST_F(ModelDirectoryTest, TheCaseOfLettersDoesNotMatterUnlessAnotherIsSpeltSo) {
  const auto upper = AddInfer("Echo");
  EXPECT_EQ(*directory_.Find("ECHO", ""), upper);
  const auto lower = AddInfer("echo");
  EXPECT_EQ(*directory_.Find("echo", ""), lower);
  EXPECT_EQ(*directory_.Find("Echo", ""), upper);
}

TEST_F(ModelDirectoryTest, AnUnknownNameForATaskListsThoseOfTheTask) {
  AddInfer("null");
  AddVoice("joe");
  const absl::Status status = directory_.FindForTask(Task::kSynthesis, "x", "").status();
  EXPECT_EQ(MessageOf(status), "model: 'x' is not loaded; loaded for synthesis are: joe");
}

TEST_F(ModelDirectoryTest, LongUnknownNameIsCut) {
  const std::string name(10'000, 'x');
  EXPECT_LT(directory_.Find(name, "").status().message().size(), 200U);
  AddInfer("m");
  EXPECT_LT(directory_.Find("m", name).status().message().size(), 200U);
}

TEST_F(ModelDirectoryTest, OtherVersionSaysWhichIsLoaded) {
  AddInfer("m");
  for (const char* version : {"2", "01", "latest", "-1"}) {
    const absl::Status status = directory_.Find("m", version).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << version;
    EXPECT_THAT(MessageOf(status), HasSubstr("model_version: '" + std::string(version)));
    EXPECT_THAT(MessageOf(status), HasSubstr("1 is"));
  }
}

TEST_F(ModelDirectoryTest, ModelOfAnotherTaskIsRefused) {
  AddVoice("joe");
  const absl::Status status = directory_.FindForTask(Task::kTranslation, "joe", "").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(MessageOf(status), "model: 'joe' is a model for synthesis, not for translation");
  EXPECT_TRUE(directory_.FindForTask(Task::kSynthesis, "joe", "").ok());
}

TEST_F(ModelDirectoryTest, EmptyNameTakesTheOnlyModelOfTheTask) {
  EXPECT_EQ(directory_.FindForTask(Task::kSynthesis, "", "").status().code(),
            absl::StatusCode::kNotFound);
  AddInfer("null");
  const auto voice = AddVoice("joe");
  EXPECT_EQ(*directory_.FindForTask(Task::kSynthesis, "", ""), voice);
  AddVoice("amy");
  const absl::Status status = directory_.FindForTask(Task::kSynthesis, "", "").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(MessageOf(status), HasSubstr("amy, joe"));
  EXPECT_THAT(MessageOf(status), Not(HasSubstr("null")));
}

TEST_F(ModelDirectoryTest, FindsTheTranslatorOfALanguagePair) {
  const auto there = AddTranslator("en-pt", "en", "pt");
  const auto back = AddTranslator("pt-en", "pt", "en");
  AddVoice("joe");
  EXPECT_EQ(*directory_.FindTranslator("en", "pt"), there);
  EXPECT_EQ(*directory_.FindTranslator("PT", "EN"), back);
  EXPECT_EQ(*directory_.FindTranslator("", "en"), back);
  EXPECT_EQ(*directory_.FindTranslator("en", ""), there);
  const absl::Status none = directory_.FindTranslator("en", "de").status();
  EXPECT_EQ(none.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(MessageOf(none), HasSubstr("from 'en' to 'de'"));
  // Only what was said is named.
  EXPECT_EQ(
      MessageOf(directory_.FindTranslator("", "de").status()),
      "target_language: no loaded model translates to 'de'; loaded ones do en to pt, pt to en");
  EXPECT_EQ(
      MessageOf(directory_.FindTranslator("de", "").status()),
      "source_language: no loaded model translates from 'de'; loaded ones do en to pt, pt to en");
  const absl::Status several = directory_.FindTranslator("", "").status();
  EXPECT_EQ(several.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(MessageOf(several), HasSubstr("en-pt, pt-en"));
}

TEST_F(ModelDirectoryTest, PutReplacesAndWhoHoldsTheOldKeepsIt) {
  bool destroyed = false;
  models::ModelInfo info;
  info.name = "m";
  auto old = Add(info, {.destroyed = [&] { destroyed = true; }});
  info.version = 2;
  const auto replacement = Add(info);
  EXPECT_EQ(*directory_.Find("m", ""), replacement);
  EXPECT_FALSE(directory_.Find("m", "1").ok());
  EXPECT_FALSE(destroyed);
  EXPECT_EQ(old->info().version, 1);
  old.reset();
  EXPECT_TRUE(destroyed);
}

TEST_F(ModelDirectoryTest, RemoveTakesItOutOfService) {
  AddInfer("m");
  EXPECT_TRUE(directory_.Remove("m"));
  EXPECT_FALSE(directory_.Remove("m"));
  EXPECT_FALSE(directory_.Find("m", "").ok());
  EXPECT_TRUE(directory_.All().empty());
}

TEST_F(ModelDirectoryTest, OnlyAModelThatNobodyHoldsIsReplacedByAnIdleOne) {
  int destroyed = 0;
  models::ModelInfo info;
  info.name = "m";
  auto model = Add(info, {.destroyed = [&] { ++destroyed; }});
  const auto idle = MakeIdle(*model);
  {
    const auto held = *directory_.Find("m", "");  // as by a request
    EXPECT_FALSE(directory_.ReplaceUnused(model, idle));
    EXPECT_EQ(*directory_.Find("m", ""), model);
  }
  EXPECT_TRUE(directory_.ReplaceUnused(model, idle));
  EXPECT_EQ(*directory_.Find("m", ""), idle);
  EXPECT_FALSE(directory_.ReplaceUnused(model, MakeIdle(*model)));  // it serves no more
  EXPECT_FALSE(idle->loaded());
  EXPECT_EQ(idle->info().name, "m");
  model.reset();
  EXPECT_EQ(destroyed, 1);
}

TEST_F(ModelDirectoryTest, IdleModelIsLoadedInItsPlaceUnlessItWasRemoved) {
  const auto idle = MakeIdle(*AddInfer("m"));
  directory_.Put(idle);
  const uint64_t changes = directory_.changes();
  std::unique_ptr<const models::Model> weights = std::make_unique<FakeModel>(idle->info());
  const models::Model* const loaded = weights.get();
  ASSERT_TRUE(directory_.Load(idle, weights, {.bytes = 9}));
  EXPECT_EQ(weights, nullptr);
  EXPECT_TRUE(idle->loaded());
  EXPECT_EQ(&idle->model(), loaded);
  EXPECT_EQ(idle->cost().bytes, 9U);
  EXPECT_GT(directory_.changes(), changes);

  const auto removed = MakeIdle(*idle);
  directory_.Put(removed);
  directory_.Remove("m");
  weights = std::make_unique<FakeModel>(removed->info());
  EXPECT_FALSE(directory_.Load(removed, weights, {}));
  EXPECT_NE(weights, nullptr);
  EXPECT_FALSE(removed->loaded());
  EXPECT_FALSE(directory_.Replace(removed, MakeIdle(*removed)));
  EXPECT_TRUE(directory_.All().empty());
}

TEST_F(ModelDirectoryTest, IdleModelIsFoundByItsLanguages) {
  const auto model = AddTranslator("en-pt", "en", "pt");
  directory_.Put(MakeIdle(*model));
  EXPECT_FALSE((*directory_.FindTranslator("en", "pt"))->loaded());
  EXPECT_FALSE((*directory_.FindForTask(Task::kTranslation, "", ""))->loaded());
}

TEST_F(ModelDirectoryTest, ListsByName) {
  AddInfer("c");
  AddInfer("a");
  AddInfer("b");
  std::string names;
  for (const auto& model : directory_.All()) names += model->info().name;
  EXPECT_EQ(names, "abc");
}

}  // namespace
}  // namespace millrace::server
