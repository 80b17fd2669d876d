#include "models/repository/model_repository.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <map>

namespace millrace::models {
namespace {

namespace fs = std::filesystem;

constexpr char kVoice[] = "vits { file: 'm.pt' voice_file: 'v.json' language: 'en' voice: 'joe' }";

class RepositoryTest : public ::testing::Test {
 protected:
  RepositoryTest()
      : base_(fs::path(::testing::TempDir()) /
              (std::string("millrace_repository_") +
               ::testing::UnitTest::GetInstance()->current_test_info()->name() +
               std::to_string(getpid()))),
        root_(base_ / "models"),
        repository_(root_,
                    [this](const ModelConfig& config, const fs::path& folder,
                           ModelInfo info) -> absl::StatusOr<std::unique_ptr<Model>> {
                      loaded_ = folder.string() + " " + info.name + " " +
                                std::to_string(info.version) + " " + std::string(config.kind->name);
                      return absl::UnavailableError("no weights here");
                    }) {
    fs::create_directories(root_);
  }
  ~RepositoryTest() override {
    std::error_code ignored;
    fs::permissions(root_, fs::perms::owner_all, ignored);
    fs::remove_all(base_, ignored);
  }

  void Write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  void AddVoice(const std::string& name, const std::string& version) {
    Write(root_ / name / version / "model.pbtxt", kVoice);
    Write(root_ / name / version / "m.pt", "weights");
    Write(root_ / name / version / "v.json", "{}");
  }

  const fs::path base_;
  const fs::path root_;
  std::string loaded_;
  const ModelRepository repository_;
};

TEST_F(RepositoryTest, ListsModelsByNameAndVersionsByNumber) {
  AddVoice("joe", "2");
  AddVoice("joe", "10");
  AddVoice("anna", "1");
  const auto entries = repository_.List();
  ASSERT_TRUE(entries.ok()) << entries.status();
  ASSERT_EQ(entries->size(), 2U);
  EXPECT_EQ((*entries)[0].name, "anna");
  EXPECT_EQ((*entries)[1].versions, (std::vector<int64_t>{2, 10}));
}

TEST_F(RepositoryTest, IgnoresWhatIsNoModel) {
  AddVoice("joe", "1");
  AddVoice("joe", "01");
  AddVoice("joe", "latest");
  AddVoice("joe", "0");
  AddVoice(".hidden", "1");
  AddVoice("with space", "1");
  fs::create_directories(root_ / "empty" / "1");
  Write(root_ / "README", "text");
  const auto entries = repository_.List();
  ASSERT_TRUE(entries.ok()) << entries.status();
  ASSERT_EQ(entries->size(), 1U);
  EXPECT_EQ((*entries)[0].versions, std::vector<int64_t>{1});
}

TEST_F(RepositoryTest, FindsTheLatestOrAGivenVersion) {
  AddVoice("joe", "2");
  AddVoice("joe", "10");
  EXPECT_EQ(repository_.Find("joe")->version, 10);
  EXPECT_EQ(repository_.Find("joe", 2)->folder, root_ / "joe" / "2");
  const absl::Status missing = repository_.Find("joe", 3).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(missing.message(), "model 'joe' has no version 3, the latest is 10");
}

TEST_F(RepositoryTest, UnknownModelIsNotFound) {
  EXPECT_EQ(repository_.Find("joe").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(RepositoryTest, NamesThatCouldLeaveTheRootAreRefused) {
  // It exists, so only the name's check stands between the request and the file.
  Write(base_ / "outside" / "1" / "model.pbtxt", kVoice);
  Write(base_ / "outside" / "1" / "m.pt", "");
  Write(base_ / "outside" / "1" / "v.json", "");
  const std::string names[] = {"../outside",
                               "..",
                               ".",
                               "",
                               "/etc",
                               "a/b",
                               "a\\b",
                               "a b",
                               "caf\xc3\xa9",
                               ".joe",
                               std::string("joe\0", 4),
                               std::string(129, 'a')};
  for (const std::string& name : names) {
    EXPECT_EQ(repository_.Find(name).status().code(), absl::StatusCode::kInvalidArgument) << name;
  }
  EXPECT_TRUE(CheckModelName(std::string(128, 'a')).ok());
  EXPECT_TRUE(CheckModelName("bergamot-en_pt.v2").ok());
}

TEST_F(RepositoryTest, LinkOutOfTheFolderIsRefused) {
  Write(base_ / "secret", "secret: 1");
  // Messages about model.pbtxt quote its words, so a link would show those of another file.
  for (const char* name : {"v.json", "model.pbtxt"}) {
    AddVoice("joe", "1");
    fs::remove(root_ / "joe" / "1" / name);
    fs::create_symlink(base_ / "secret", root_ / "joe" / "1" / name);
    const absl::Status status = repository_.Find("joe").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_NE(std::string(status.message())
                  .find("which is outside of the model's folder and of the repository"),
              std::string::npos)
        << status;
    fs::remove_all(root_ / "joe");
  }
}

TEST_F(RepositoryTest, LinkWithinTheFolderAndLinkedModelFolderAreFine) {
  AddVoice("joe", "1");
  fs::remove(root_ / "joe" / "1" / "v.json");
  fs::create_symlink("m.pt", root_ / "joe" / "1" / "v.json");
  fs::create_directory_symlink("joe", root_ / "alias");
  EXPECT_TRUE(repository_.Find("joe").ok());
  EXPECT_TRUE(repository_.Find("alias").ok()) << repository_.Find("alias").status();
}

// Kubernetes projects the files of a volume through a link to a folder, which it swaps.
TEST_F(RepositoryTest, FilesOfAProjectedVolumeAreFine) {
  AddVoice("joe", "1");
  const fs::path folder = root_ / "joe" / "1";
  fs::create_directory(folder / "..2026_11_27");
  for (const char* name : {"m.pt", "v.json", "model.pbtxt"}) {
    fs::rename(folder / name, folder / "..2026_11_27" / name);
    fs::create_symlink(fs::path("..data") / name, folder / name);
  }
  fs::create_directory_symlink("..2026_11_27", folder / "..data");
  EXPECT_TRUE(repository_.Find("joe").ok()) << repository_.Find("joe").status();
}

// The hub's cache keeps contents beside the folders that link to them; a checkout may keep them
// for all models together.
TEST_F(RepositoryTest, LinksToFilesBesideTheVersionsAndBesideTheModelsAreFine) {
  AddVoice("joe", "1");
  const fs::path folder = root_ / "joe" / "1";
  fs::create_directory(root_ / "joe" / "blobs");
  fs::create_directories(root_ / ".store" / "objects");
  fs::rename(folder / "m.pt", root_ / "joe" / "blobs" / "aaa");
  fs::rename(folder / "v.json", root_ / ".store" / "objects" / "bbb");
  fs::create_symlink("../blobs/aaa", folder / "m.pt");
  fs::create_symlink("../../.store/objects/bbb", folder / "v.json");
  EXPECT_TRUE(repository_.Find("joe").ok()) << repository_.Find("joe").status();
}

// So does the hub's cache of a whole repository, of which a snapshot is served.
TEST_F(RepositoryTest, ASnapshotOfTheHubsCacheIsServedWithItsContentsAndNoOthers) {
  AddVoice("joe", "1");
  const fs::path cache = base_ / "models--owner--voices";
  const fs::path snapshot = cache / "snapshots" / "abc";
  Write(cache / "blobs" / "aaa", "");
  Write(cache / "blobs" / "bbb", "");
  Write(cache / "refs" / "main", "secret");
  fs::create_directories(cache / "snapshots");
  fs::rename(root_, snapshot);
  const fs::path folder = snapshot / "joe" / "1";
  const auto link = [&](const char* name, const fs::path& target) {
    fs::remove(folder / name);
    fs::create_symlink(target, folder / name);
  };
  link("m.pt", "../../../../blobs/aaa");
  link("v.json", "../../../../blobs/bbb");
  const ModelRepository repository(snapshot.string(), nullptr);
  EXPECT_TRUE(repository.Find("joe").ok()) << repository.Find("joe").status();
  // One that is a model of another repository.
  fs::create_directories(root_);
  fs::create_directory_symlink(snapshot / "joe", root_ / "linked");
  EXPECT_TRUE(repository_.Find("linked").ok()) << repository_.Find("linked").status();
  for (const char* target : {"../../../../refs/main", "../../../../../blobs/aaa"}) {
    link("v.json", target);
    EXPECT_EQ(repository.Find("joe").status().code(), absl::StatusCode::kFailedPrecondition)
        << target;
  }
}

TEST_F(RepositoryTest, LinksThatLeaveTheRepositoryAreRefusedHoweverTheyAreMade) {
  AddVoice("joe", "1");
  const fs::path folder = root_ / "joe" / "1";
  const fs::path file = folder / "m.pt";
  // A folder whose name begins with the repository's is not below it.
  const fs::path beside = fs::path(root_.string() + "-beside");
  Write(beside / "m.pt", "secret");
  fs::create_directory_symlink(beside, folder / "away");
  fs::create_symlink(beside / "m.pt", folder / "hop");
  for (const fs::path& target :
       {fs::path("/etc/passwd"), fs::path("../../../../../../../../../../etc/passwd"),
        beside / "m.pt", fs::path("away/m.pt"), fs::path("hop"), fs::path("m.pt"),
        fs::path("v.json/m.pt"), fs::path("nothing"), fs::path("/dev/zero"), fs::path("."),
        folder}) {
    fs::remove(file);
    fs::create_symlink(target, file);
    const absl::Status status = repository_.Find("joe").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << target;
    EXPECT_NE(std::string(status.message()).find(file.string()), std::string::npos) << status;
  }
}

TEST_F(RepositoryTest, MissingWeightsAreNamed) {
  AddVoice("joe", "1");
  fs::remove(root_ / "joe" / "1" / "m.pt");
  const absl::Status status = repository_.Find("joe").status();
  EXPECT_NE(std::string(status.message()).find("m.pt: no such file, but model.pbtxt names it"),
            std::string::npos)
      << status;
}

// Opening a pipe waits for its writer: for ever, where nobody writes.
TEST_F(RepositoryTest, PipesAreRefusedAndNotWaitedFor) {
  AddVoice("joe", "1");
  AddVoice("anna", "1");
  const fs::path config = root_ / "joe" / "1" / "model.pbtxt";
  const fs::path weights = root_ / "anna" / "1" / "m.pt";
  for (const fs::path& file : {config, weights}) {
    fs::remove(file);
    ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  }
  const absl::Status joe = repository_.Find("joe").status();
  EXPECT_EQ(joe.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(joe.message(), config.string() + ": is not a regular file, and only such are read");
  const absl::Status anna = repository_.Find("anna").status();
  EXPECT_EQ(anna.message(), weights.string() + ": is not a regular file, but model.pbtxt names it");
}

TEST_F(RepositoryTest, FilesThatAreTooLargeAreRefusedUnread) {
  const std::map<std::string, std::string> kinds = {
      {"vits { file: 'f' voice_file: 'BIG' language: 'en' voice: 'joe' }", "voice_file"},
      {"bergamot { file: 'f' vocabulary_file: 'BIG' source_language: 'en' target_language: 'pt' }",
       "vocabulary_file"},
      {"kokoro { file: 'f' config_file: 'f' lexicon_file: 'BIG' language: 'en-US' }",
       "lexicon_file"},
      {"kokoro { file: 'f' config_file: 'f' lexicon_file: 'f' japanese_words_file: 'BIG'"
       " language: 'en-US' }",
       "japanese_words_file"},
      {"seq2seq { file: 'f' config_file: 'f' pieces_file: 'f' words_file: 'BIG' "
       "source_language: 'en' target_language: 'pt' }",
       "words_file"}};
  for (const auto& [config, field] : kinds) {
    Write(root_ / field / "1" / "model.pbtxt", config);
    Write(root_ / field / "1" / "f", "small");
    Write(root_ / field / "1" / "BIG", "");
    fs::resize_file(root_ / field / "1" / "BIG", uintmax_t{10} << 30);  // it takes no place
    const absl::Status status = repository_.Find(field).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_NE(std::string(status.message())
                  .find("BIG: has 10737418240 bytes, a " + field + " may have at most "),
              std::string::npos)
        << status;
  }
  Write(root_ / "joe" / "1" / "model.pbtxt", kVoice);
  fs::resize_file(root_ / "joe" / "1" / "model.pbtxt", uintmax_t{10} << 30);
  EXPECT_NE(std::string(repository_.Find("joe").status().message())
                .find("model.pbtxt: has 10737418240 bytes, allowed are at most 1048576"),
            std::string::npos);
}

TEST_F(RepositoryTest, TypoInTheConfigIsReportedWithFileAndLine) {
  AddVoice("joe", "1");
  Write(root_ / "joe" / "1" / "model.pbtxt", "vits {\n  flie: 'm.pt'\n}");
  const absl::Status status = repository_.Find("joe").status();
  EXPECT_NE(std::string(status.message()).find("joe/1/model.pbtxt:2:"), std::string::npos)
      << status;
  EXPECT_NE(std::string(status.message()).find("flie"), std::string::npos) << status;
}

TEST_F(RepositoryTest, CheckTellsEmptyMissingAndWrongApart) {
  EXPECT_NE(std::string(repository_.Check().message())
                .find("holds no model, expected <model>/<version>/model.pbtxt"),
            std::string::npos);
  AddVoice("joe", "1");
  EXPECT_TRUE(repository_.Check().ok());
  const auto check = [](const fs::path& root) {
    return std::string(ModelRepository(root, nullptr).Check().message());
  };
  EXPECT_NE(check(base_ / "nowhere").find("no such folder"), std::string::npos);
  EXPECT_NE(check(root_ / "joe" / "1" / "m.pt").find("is not a folder"), std::string::npos);
}

// A repository of several folders, or of one model's.
class SourcesTest : public RepositoryTest {
 protected:
  // Adds a model below a folder of the base, or one that is that folder if no name is given.
  void Add(const fs::path& folder) {
    Write(base_ / folder / "model.pbtxt", kVoice);
    Write(base_ / folder / "m.pt", "weights");
    Write(base_ / folder / "v.json", "{}");
  }
  std::string Path(const fs::path& folder) const { return (base_ / folder).string(); }
  static std::vector<std::string> Names(const std::string& sources) {
    const auto entries = ModelRepository(sources, nullptr).List();
    EXPECT_TRUE(entries.ok()) << entries.status();
    std::vector<std::string> names;
    if (entries.ok()) {
      for (const auto& entry : *entries) names.push_back(entry.name);
    }
    return names;
  }
  static std::string Error(const std::string& sources) {
    const absl::Status status = ModelRepository(sources, nullptr).Check();
    EXPECT_FALSE(status.ok());
    return std::string(status.message());
  }
};

TEST_F(SourcesTest, TheFolderOfOneModelIsARepository) {
  Add("mount/voice/2");
  Add("mount/voice/3");
  const ModelRepository repository(Path("mount/voice"), nullptr);
  EXPECT_TRUE(repository.Check().ok());
  EXPECT_EQ(Names(Path("mount/voice")), std::vector<std::string>{"voice"});
  EXPECT_EQ(Names(Path("mount/voice/")), std::vector<std::string>{"voice"});
  const auto package = repository.Find("voice");
  ASSERT_TRUE(package.ok()) << package.status();
  EXPECT_EQ(package->version, 3);
  EXPECT_EQ(package->folder, base_ / "mount/voice/3");
  EXPECT_TRUE(repository.Find("voice", 2).ok());
  EXPECT_EQ(repository.Find("other").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(SourcesTest, APackageAloneIsVersionOne) {
  Add("mnt/models");
  const ModelRepository repository("joe=" + Path("mnt/models"), nullptr);
  EXPECT_TRUE(repository.Check().ok());
  const auto package = repository.Find("joe");
  ASSERT_TRUE(package.ok()) << package.status();
  EXPECT_EQ(package->version, 1);
  EXPECT_EQ(package->folder, base_ / "mnt/models");
  EXPECT_EQ(repository.Find("joe", 2).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(SourcesTest, SeveralFoldersAreOneRepository) {
  Add("a/joe/1");
  Add("b/anna/1");
  Add("b/zoe/1");
  Add("one/1");
  EXPECT_EQ(Names(Path("a") + "," + Path("b") + ",eva=" + Path("one")),
            (std::vector<std::string>{"anna", "eva", "joe", "zoe"}));
}

TEST_F(SourcesTest, ANameOccursOnce) {
  Add("a/joe/1");
  Add("b/joe/2");
  const std::string both = Path("a") + "," + Path("b");
  EXPECT_EQ(Error(both), "model repository " + Path("b") + ": has a model 'joe', but so has " +
                             Path("a/joe") + "; each name may occur once");
  EXPECT_EQ(ModelRepository(both, nullptr).Find("joe").status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Names(Path("a") + ",anna=" + Path("b/joe")), (std::vector<std::string>{"anna", "joe"}));
}

TEST_F(SourcesTest, AFolderThatHasGoneCostsItsOwnModelsOnly) {
  Add("a/joe/1");
  Add("b/anna/1");
  const ModelRepository repository(Path("a") + "," + Path("b"), nullptr);
  fs::remove_all(base_ / "a");
  EXPECT_TRUE(repository.Find("anna").ok());
  const absl::Status gone = repository.Find("joe").status();
  EXPECT_EQ(gone.code(), absl::StatusCode::kFailedPrecondition) << gone;
  EXPECT_NE(gone.message().find(Path("a") + ": no such folder"), std::string::npos) << gone;
}

TEST_F(SourcesTest, EachFolderHoldsAModel) {
  Add("a/joe/1");
  fs::create_directories(base_ / "empty");
  EXPECT_NE(Error(Path("a") + "," + Path("empty")).find(Path("empty") + ": holds no model"),
            std::string::npos);
  EXPECT_NE(Error(Path("a") + "," + Path("none")).find(Path("none") + ": no such folder"),
            std::string::npos);
}

TEST_F(SourcesTest, ANameIsForTheFolderOfOneModel) {
  Add("a/joe/1");
  EXPECT_NE(Error("voice=" + Path("a")).find("is not the folder of a model, although 'voice'"),
            std::string::npos);
  Add("not a name/1");
  EXPECT_NE(Error(Path("not a name")).find("'not a name' is no name for one; give it a name"),
            std::string::npos);
  EXPECT_EQ(Names("joe=" + Path("not a name")), std::vector<std::string>{"joe"});
}

TEST_F(RepositoryTest, UnreadableRootIsReported) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads every folder";
  fs::permissions(root_, fs::perms::none);
  EXPECT_NE(std::string(repository_.Check().message()).find("cannot be read: Permission denied"),
            std::string::npos);
}

TEST_F(RepositoryTest, LoadHandsThePackageToTheFactory) {
  AddVoice("joe", "4");
  EXPECT_EQ(repository_.Load("joe").status().message(), "no weights here");
  EXPECT_EQ(loaded_, (root_ / "joe" / "4").string() + " joe 4 vits");
}

}  // namespace
}  // namespace millrace::models
