// The parts of ModelQueue that look at deadlines: which newcomers are admitted, whether work would
// be late if requests took turns, and which jobs are then next or refused.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "models/core/strings.h"
#include "models/text/unicode.h"
#include "server/metrics/model_metrics.h"
#include "server/scheduling/deadline_order.h"
#include "server/scheduling/input_field.h"
#include "server/scheduling/model_queue.h"
#include "server/scheduling/refusal.h"
#include "server/scheduling/served_model.h"

namespace millrace::server {
namespace {

// The factors by which work may take longer than forecast before it is late: kAdmitted applies to a
// newcomer, kPressed to outstanding work while requests take turns. The first is larger, so that
// turns are the rule.
constexpr double kAdmitted = 4.0 / 3;
constexpr double kPressed = 1.2;
// Work has to be done this many steps before its deadline, because the queue is only looked at when
// a step ends, and then other requests run.
constexpr double kReserveSteps = 2;
// A request that is alone on the machine is admitted even if it has only this part of the forecast
// left.
constexpr double kDoubtful = 0.5;
// The number of steps after which the pace is good enough to tell what cannot be done in time.
constexpr double kStepsToJudge = 4;
// The number of jobs of each line that are considered when the earliest deadline goes first.
constexpr size_t kMostCandidates = 256;
// The load is computed again when more than this part of the requests has come or gone.
constexpr size_t kChangedPart = 16;
// The hint of a request that waits for other models, whose work is not known here.
constexpr double kOtherModelsSeconds = 1;

// Returns the characters of the texts of a request.
size_t TextLength(const models::Input& input) {
  size_t characters = 0;
  if (const auto* speech = std::get_if<models::SynthesizeInput>(&input))
    characters = models::CountCodePoints(speech->text);
  if (const auto* translation = std::get_if<models::TranslateInput>(&input)) {
    for (const std::string& text : translation->texts) characters += models::CountCodePoints(text);
  }
  return characters;
}

// Returns a time for people: "250 ms", "12.5 s", "15 min".
std::string TimeText(double seconds) {
  char text[32];
  if (seconds < 1) {
    std::snprintf(text, sizeof text, "%.0f ms", seconds * 1000);
  } else if (seconds < 120) {
    std::snprintf(text, sizeof text, "%.3g s", seconds);
  } else {
    std::snprintf(text, sizeof text, "%.*f min", seconds < 600 ? 1 : 0, seconds / 60);
  }
  return text;
}

// Returns a length that people remember: no more than `characters`, of two digits.
size_t Rounded(double characters) {
  const double unit = std::pow(10, std::max(0.0, std::floor(std::log10(characters)) - 1));
  return static_cast<size_t>(std::floor(characters / unit) * unit);
}

}  // namespace

double ModelQueue::SecondsAlone(double work) const {
  // In continuous batches several parts of a request are in a step at once.
  return work * (policy_.continuous ? pace_.seconds() : pace_.seconds_in_steps());
}

bool ModelQueue::HasTimeAlone(const Job& job, TimePoint now) const {
  const TimePoint deadline = job.request.deadline();
  return deadline == TimePoint::max() || SecondsAlone(WorkOf(job)) <= Seconds(deadline - now);
}

double ModelQueue::DueWorkOf(const Job& job, TimePoint now) const {
  const double work = WorkOf(job);
  const models::TimeLimit& limit = job.request.limit();
  if (!job.request.is_streamed() || limit.deadline >= limit.last || HasTimeAlone(job, now))
    return work;
  return std::min(work, pace_.work_per_step());
}

bool ModelQueue::MayFit(double work, TimePoint end, TimePoint now) const {
  return end == TimePoint::max() || pace_.steps() < kStepsToJudge ||
         kDoubtful * SecondsAlone(work) <= Seconds(end - now);
}

absl::Status ModelQueue::CheckLength(const Job& job, TimePoint now) const {
  const models::TimeLimit& limit = job.request.limit();
  const bool client_waits = MayFit(WorkOf(job), limit.last, now);
  if (client_waits && MayFit(DueWorkOf(job, now), limit.deadline, now)) return absl::OkStatus();
  const double seconds = SecondsAlone(WorkOf(job));
  const double left = std::max(0.0, Seconds((client_waits ? limit.deadline : limit.last) - now));
  std::string message = StrCat(
      InputField(job.model->info().task()), ": would take about ", TimeText(seconds), " here, and ",
      client_waits
          ? StrCat("at most ", TimeText(Seconds(limit.deadline - job.admitted)),
                   " are allowed (--max-request-time)")
          : StrCat("the client's own deadline (--timeout of `millrace`) leaves ", TimeText(left)));
  const size_t characters = TextLength(job.request.input());
  const double fit = static_cast<double>(characters) * left / seconds;
  if (fit >= 1)
    message += StrCat("; about ", Rounded(fit), " of its ", characters, " characters fit");
  return NeverFitting(std::move(message));
}

double ModelQueue::Reserve() const { return kReserveSteps * pace_.seconds_per_step(); }

bool ModelQueue::HasTimeFor(double more_work, double stretch, TimePoint now, double workers) const {
  return earliest_ == TimePoint::max() || stretch * SecondsFor(AllWork() + more_work, workers) <=
                                              Seconds(earliest_ - now) - Reserve();
}

void ModelQueue::RefreshLoad(TimePoint now, double workers) {
  if (changes_ == 0 || changes_ < requests() / kChangedPart) return;
  changes_ = 0;
  added_ = 0;
  load_.Begin(now, Reserve(), AtOnce());
  const auto add = [&](TimePoint deadline, double work) {
    if (deadline != TimePoint::max())
      load_.Add(deadline, SecondsFor(work, workers), SecondsAlone(work));
  };
  for (const Line* line : {&fresh_, &quick_, &started_}) {
    for (const auto& job : *line) add(job->request.deadline(), DueWorkOf(*job, now));
  }
  for (const Running& running : running_work_) {
    if (running.work > 0) add(running.deadline, running.due_work);
  }
  load_.Build();
  earliest_ = load_.earliest();
}

absl::Status ModelQueue::Admit(Job& job, TimePoint now, double workers) {
  const std::string& name = job.model->info().name;
  if (!held()) {
    if (absl::Status status = CheckLength(job, now); !status.ok()) return status;
  }
  if (size() >= capacity_ && !FindToDisplace(job)) {
    return Refused(Refusal::kQueueFull,
                   StrCat("the queue of model '", name, "' is full (", capacity_, " requests)"),
                   std::chrono::duration<double>(SecondsFor(AllWork(), workers)));
  }
  const TimePoint deadline = job.request.deadline();
  job.may_be_refused = true;
  if (held()) return AdmitHeld(job, now);
  if (deadline == TimePoint::max()) return absl::OkStatus();
  if (!pace_.known()) return absl::OkStatus();
  const double work = DueWorkOf(job, now);
  const bool whole = work >= WorkOf(job);
  const double margin = margin_.factor();
  const double left = Seconds(deadline - now);
  const bool quick = IsQuick(work);
  const double all_workers = workers;
  if (!quick) workers = LeftByQuick(workers, now);
  const double service = work * pace_.seconds_in_steps() * all_workers / workers;
  const double part_before = keys_.PartBefore(job.share);
  double wait = WaitForOthers(workers, part_before);
  bool in_time = kAdmitted * margin * wait + service <= left - Reserve();
  if (!busy()) {
    // Admits a doubtful job, so that the pace is measured again.
    in_time |= pace_.steps() < kStepsToJudge || kDoubtful * service <= left;
  } else if (part_before < 1) {
    // The others have more than their share, so what they would lose by this job does not count.
  } else if (wait > 0 && !(in_time && HasTimeFor(work, margin, now, workers))) {
    RefreshLoad(now, workers);
    const double added = SecondsFor(added_, workers);
    wait = load_.DueBy(deadline) + added;
    in_time = kAdmitted * margin * wait + service <= left - Reserve() &&
              added + SecondsFor(work, workers) <= load_.Room(deadline) / margin;
  }
  if (!in_time) {
    return Refused(
        Refusal::kDeadline,
        StrCat("model '", name, "' is busy: the deadline would pass before this request is done"),
        std::chrono::duration<double>(wait > 0 ? wait : kOtherModelsSeconds));
  }
  // The forecast is of the end, not of the first part.
  if (whole) job.forecast = margin_.Expect(wait + service);
  return absl::OkStatus();
}

absl::Status ModelQueue::AdmitHeld(Job& job, TimePoint now) const {
  const TimePoint deadline = job.request.deadline();
  const double left = Seconds(LoadTimeLeft(now));
  // The next load may be faster than the last one, whose files had to be read from the disk.
  if (deadline == TimePoint::max() || kDoubtful * left <= Seconds(deadline - now))
    return absl::OkStatus();
  return Refused(Refusal::kLoading,
                 StrCat("model '", job.model->info().name,
                        "' is being loaded, which takes longer than this request has time"),
                 std::chrono::duration<double>(left));
}

bool ModelQueue::IsPressed(TimePoint now, double workers) {
  const double stretch = kPressed * margin_.factor();
  if (!pace_.known() || HasTimeFor(0, stretch, now, workers)) return false;
  RefreshLoad(now, workers);
  return load_.Excess(stretch) > 0;
}

void ModelQueue::TakeByDeadline(size_t most, TimePoint now, double workers, Popped& popped) {
  struct Candidate {
    TimePoint deadline;
    double work;
    Line* line;
    size_t index;
    bool given_up = false;
    double turn = 0;
  };
  std::vector<Candidate> order;
  for (Line* line : {&started_, &quick_, &fresh_}) {
    // The jobs of a key that has few may stand far behind.
    const size_t candidates =
        keys_.in_use() ? line->size() : std::min(line->size(), kMostCandidates);
    for (size_t i = 0; i < candidates; ++i) {
      const Job& job = *(*line)[i];
      // Much shorter requests have turns of their own, unless they have waited too long for those.
      if (!keys_.in_use() && line == &quick_ && job.request.deadline() - now > now - job.enqueued)
        continue;
      order.push_back({job.request.deadline(), DueWorkOf(job, now), line, i});
    }
  }
  // Running jobs continue after their step, in the order of their deadlines.
  for (const Running& running : running_work_)
    if (running.work > 0) order.push_back({running.deadline, running.due_work, nullptr, 0});
  std::ranges::stable_sort(order, [](const Candidate& a, const Candidate& b) {
    return std::tie(a.deadline, a.work) < std::tie(b.deadline, b.work);
  });
  // A job that is given up continues when there is nothing else to do.
  std::vector<DueWork> due;
  for (const Candidate& next : order) due.push_back({next.deadline, next.work});
  const std::vector<size_t> given_up = GiveUpLongest(
      due, {.now = now,
            .at_once = AtOnce(),
            .seconds_together = [&](double work) { return SecondsFor(work, workers); },
            .seconds_alone = [&](double work) { return SecondsAlone(work); }});
  for (const size_t i : given_up) order[i].given_up = true;
  if (keys_.in_use()) {
    // Among the keys it goes by turns. Each job gets the turn that it has behind those of its key.
    std::vector<size_t> seen;
    for (Candidate& next : order) {
      if (next.line == nullptr) continue;
      const FairShare& share = (*next.line)[next.index]->share;
      if (seen.size() <= share.key) seen.resize(share.key + 1);
      next.turn = keys_.Turn(share, seen[share.key]++);
    }
    std::ranges::stable_sort(order, {}, &Candidate::turn);
  }
  std::stable_partition(order.begin(), order.end(),
                        [](const Candidate& next) { return !next.given_up; });

  double work = 0;  // of the batch
  for (const Candidate& next : order) {
    if (popped.batch.size() == most) break;
    if (next.line == nullptr) continue;
    std::unique_ptr<Job>& job = (*next.line)[next.index];
    // A full batch takes no further requests that have not begun, because they would slow down the
    // others.
    const bool full = policy_.full_work > 0 && work >= policy_.full_work;
    if (next.line != &started_ && (full || !MayBeginQuick())) continue;
    const bool alone = job->alone;
    if (alone && !popped.batch.empty()) continue;
    work += WorkOf(*job);
    Uncount(*next.line, *job);
    if (HandOut(std::move(job), now, popped) && alone) break;
  }
  for (Line* line : {&started_, &quick_, &fresh_}) std::erase(*line, nullptr);
  // Only much shorter requests wait here, or none of the others may begin.
  if (popped.batch.empty() && popped.dropped.empty()) TakeInTurn(most, now, popped);
}

void ModelQueue::RefuseExcess(TimePoint now, double workers, Popped& popped) {
  if (pace_.steps() < kStepsToJudge) return;
  TimePoint deadline;
  double excess = load_.Excess(1, &deadline);
  if (excess <= 0) return;
  for (size_t i = fresh_.size(); i > 0 && excess > 0; --i) {
    std::unique_ptr<Job>& job = fresh_[i - 1];
    if (!job->may_be_refused || job->request.deadline() > deadline) continue;
    if (keys_.PartBefore(job->share) < 1) continue;  // another key has more than its share
    excess -= SecondsFor(DueWorkOf(*job, now), workers);
    Uncount(fresh_, *job);
    absl::Status why = CheckLength(*job, now);
    if (why.ok()) {
      why = Refused(Refusal::kDeadline,
                    StrCat("model '", job->model->info().name,
                           "' is slower than expected: the deadline would pass before this request "
                           "is done"),
                    std::chrono::duration<double>(load_.DueBy(deadline)));
    }
    job->request.Finish(std::move(why));
    popped.dropped.push_back(std::move(job));
  }
  std::erase(fresh_, nullptr);
}

}  // namespace millrace::server
