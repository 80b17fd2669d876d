#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "millrace/v1/translation.pb.h"
#include "mps_runtime/base/mutex.h"
#include "server/frontends/kserve/infer_service.h"
#include "server/frontends/millrace/translation_service.h"
#include "tests/fakes/fake_call.h"
#include "tests/fakes/fake_clock.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {

// A gate that lets so many steps pass.
class Turnstile {
 public:
  void Pass() {
    const int step = ++arrived_;
    Await([&] { return let_ >= step; });
  }
  void AwaitArrived(int steps) {
    Await([&] { return arrived_ >= steps; });
  }
  void Let(int steps) { let_ = steps; }
  void LetAll() { Let(1'000'000); }
  int arrived() const { return arrived_; }

 private:
  std::atomic<int> arrived_{0};
  std::atomic<int> let_{0};
};

inline models::TranslateOutput Sentence(size_t text, std::string translation, bool ends_text) {
  models::TranslateOutput output;
  output.text_index = text;
  output.text = std::move(translation);
  output.text_finished = ends_text;
  output.source_tokens = 2;
  output.target_tokens = 3;
  return output;
}

inline const models::TranslateInput& InputOf(models::Request& request) {
  return std::get<models::TranslateInput>(request.input());
}

// Translates a letter of the texts in each step, into itself: the letters are the sentences.
struct LettersDone final : models::RequestState {
  size_t text = 0;
  size_t letter = 0;
};
inline void TranslateLetter(models::Request& request) {
  if (request.ShouldStop()) return;
  if (request.state() == nullptr) request.set_state(std::make_unique<LettersDone>());
  auto& done = static_cast<LettersDone&>(*request.state());
  const std::vector<std::string>& texts = InputOf(request).texts;
  const std::string& text = texts[done.text];
  const size_t letter = done.letter++;
  const size_t of = done.text;
  const bool ends_text = done.letter == text.size();
  if (ends_text) {
    ++done.text;
    done.letter = 0;
  }
  request.Emit(Sentence(of, std::string(1, text[letter]), ends_text));
  if (done.text == texts.size()) request.Finish(absl::OkStatus());
}

class PivotTest : public ::testing::Test {
 protected:
  static TestBackend::Options TwoWorkers() { return {.workers = 2}; }

  // Both models wait at a turnstile before each step.
  void Start(TestBackend::Options options = TwoWorkers(),
             testing::ModelHooks::Hook first = TranslateLetter,
             testing::ModelHooks::Hook second = {}) {
    if (!second) second = [this](models::Request& request) { Wrap(request); };
    backend_ = std::make_unique<TestBackend>(options);
    first_ = backend_->Add(
        TranslatorInfo("pt-en", "pt", "en"),
        {.forward = [this](models::Request&) { at_first_.Pass(); }, .complete = std::move(first)});
    second_ = backend_->Add(TranslatorInfo("en-de", "en", "de"),
                            {.forward = [this](models::Request&) { at_second_.Pass(); },
                             .complete = std::move(second)});
    service_ = std::make_unique<TranslationService>(backend_->services());
  }
  void LetAll() {
    at_first_.LetAll();
    at_second_.LetAll();
  }

  // A model whose steps pass the gate.
  void AddOther(Gate& gate) {
    backend_->Add(InferInfo("other"),
                  {.forward = [&gate](models::Request&) { gate.Pass(); }, .complete = Echo});
    other_ = std::make_unique<InferService>(backend_->services(), [] { return true; });
  }

  // "<sentence>" of each sentence.
  void Wrap(models::Request& request) {
    if (request.ShouldStop()) return;
    const models::TranslateInput& input = InputOf(request);
    {
      MutexLock lock(mu_);
      seen_.push_back(input);
    }
    for (size_t i = 0; i < input.texts.size(); ++i) {
      const std::string prefix = input.target_prefixes.empty() ? "" : input.target_prefixes[i];
      request.Emit(Sentence(i, prefix + "<" + input.texts[i] + ">" + padding_, true));
    }
    request.Finish(absl::OkStatus());
  }
  // Returns the inputs of the second model, job by job.
  std::vector<models::TranslateInput> seen() {
    MutexLock lock(mu_);
    return seen_;
  }
  std::vector<std::vector<std::string>> seen_texts() {
    std::vector<std::vector<std::string>> texts;
    for (const models::TranslateInput& input : seen()) texts.push_back(input.texts);
    return texts;
  }

  static v1::TranslateRequest Request(const std::vector<std::string>& texts) {
    v1::TranslateRequest request;
    for (const std::string& text : texts) request.add_texts(text);
    request.set_source_language("pt");
    request.set_target_language("de");
    return request;
  }
  static std::string Bytes(const std::vector<std::string>& texts) {
    return Request(texts).SerializeAsString();
  }
  void Begin(testing::FakeCall& call) { call.Begin(*service_, "StreamTranslate"); }
  static std::string TextOf(const std::vector<std::string>& messages) {
    std::string text;
    for (const std::string& message : messages) {
      v1::StreamTranslateResponse part;
      EXPECT_TRUE(part.ParseFromString(message));
      text += part.text();
      if (part.text_finished()) text += '|';
    }
    return text;
  }
  void ExpectOne(absl::StatusCode code) {
    Await([this] { return backend_->admission.in_flight() == 0; });
    for (size_t other = 0; other < kStatusCodes; ++other) {
      const auto status = static_cast<absl::StatusCode>(other);
      EXPECT_EQ(backend_->Count("pt-en", Method::kStreamTranslate, status), status == code ? 1 : 0)
          << status;
    }
  }

  testing::FakeClock clock_;
  Turnstile at_first_;
  Turnstile at_second_;
  std::string padding_;  // behind each translation of the second model
  Mutex mu_;
  std::vector<models::TranslateInput> seen_ MILLRACE_GUARDED_BY(mu_);
  std::unique_ptr<TestBackend> backend_;
  std::shared_ptr<ServedModel> first_;
  std::shared_ptr<ServedModel> second_;
  std::unique_ptr<TranslationService> service_;
  std::unique_ptr<InferService> other_;
};

}  // namespace millrace::server
