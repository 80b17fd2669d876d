#include "server/scheduling/admission_forecast.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <variant>

#include "models/core/strings.h"
#include "models/text/unicode.h"
#include "server/scheduling/input_field.h"
#include "server/scheduling/refusal.h"
#include "server/scheduling/served_model.h"

namespace millrace::server {
namespace {

// At most this part of the workers is counted as that of much shorter requests.
constexpr double kMostQuick = 0.9;
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
  if (seconds < 0.9995) {  // more would be rounded to 1000 ms
    std::snprintf(text, sizeof text, "%.3g ms", seconds * 1000);
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

void AdmissionForecast::Enter(const Job& job, bool newcomer) {
  ++waiting_;
  Count(job, 1);
  earliest_ = std::min(earliest_, job.request.deadline());
  if (newcomer) added_ += WorkOf(job);
}

void AdmissionForecast::Leave(const Job& job) {
  --waiting_;
  Count(job, -1);
}

void AdmissionForecast::Count(const Job& job, double sign) {
  ++changes_;
  const double work = job.request.work_left();
  (job.service.count() == 0 ? new_work_ : begun_work_) += sign * work;
  squares_ += sign * work * work;
}

double AdmissionForecast::Start(Job& job, TimePoint now) {
  ++running_;
  const Running running = {.deadline = job.request.deadline(),
                           .work = WorkOf(job),
                           .due_work = DueWorkOf(job, now),
                           .share = job.share};
  begun_work_ += running.work;
  squares_ += running.work * running.work;
  if (free_places_.empty()) {
    running_work_.push_back(running);
    job.running_place = running_work_.size();
  } else {
    job.running_place = free_places_.back();
    free_places_.pop_back();
    running_work_[job.running_place - 1] = running;
  }
  return running.work;
}

std::optional<AdmissionForecast::Running> AdmissionForecast::Stop(Job& job) {
  if (job.running_place == 0) return std::nullopt;
  Running& place = running_work_[job.running_place - 1];
  const Running stopped = place;
  begun_work_ -= stopped.work;
  squares_ -= stopped.work * stopped.work;
  place.work = 0;
  place.runs = false;
  free_places_.push_back(std::exchange(job.running_place, 0));
  ++changes_;
  return stopped;
}

void AdmissionForecast::LearnFromStep(const Job& job, TimePoint now) {
  const auto& outcome = job.request.outcome();
  if (job.service.count() == 0 && (!outcome || outcome->ok()))
    correction_.Report(job.estimate, job.request.work_left() + job.request.work_done());
  if (!outcome && job.request.ShouldStop()) {
    LearnFromLeaving(job, now);
  } else if (outcome && outcome->ok()) {
    margin_.Record(job.forecast.seconds, job.forecast);
  }
}

void AdmissionForecast::ReportStep(const StepReport& step, TimePoint now,
                                   absl::FunctionRef<void(const Running&)> on_gone) {
  use_.Add(now, step.took);
  if (step.quick != 0) {
    quick_use_.Add(now, step.took * static_cast<Duration::rep>(step.quick) /
                            static_cast<Duration::rep>(step.jobs));
  }
  if (step.tells_pace) pace_.Report(step.took, step.jobs, step.work);
  running_ -= std::min(running_, step.jobs);
  if (running_ != 0) return;
  for (const Running& gone : running_work_) {
    if (gone.runs) on_gone(gone);
    begun_work_ -= gone.work;
    squares_ -= gone.work * gone.work;
  }
  running_work_.clear();
  free_places_.clear();
  if (waiting_ == 0) new_work_ = begun_work_ = squares_ = 0;  // sums of many numbers drift
}

double AdmissionForecast::LeftByQuick(double workers, TimePoint now) const {
  return workers - std::min(quick_use_.workers(now), kMostQuick * workers);
}

double AdmissionForecast::ExpectedWait(TimePoint now, double workers) const {
  // The sums may drift below zero.
  return std::max(0.0, WaitForOthers(LeftByQuick(workers, now)));
}

bool AdmissionForecast::IsQuick(double work) const {
  // The mean is weighted by work: if many short requests wait together with a long one, the mean is
  // still long.
  return requests() != 0 && work * (begun_work_ + new_work_) <= kMuchShorter * squares_;
}

double AdmissionForecast::SecondsAlone(double work) const {
  // In continuous batches several parts of a request are in a step at once.
  return work * (policy_.continuous ? pace_.seconds() : pace_.seconds_in_steps());
}

bool AdmissionForecast::HasTimeAlone(const Job& job, TimePoint now) const {
  const TimePoint deadline = job.request.deadline();
  return deadline == TimePoint::max() || SecondsAlone(WorkOf(job)) <= Seconds(deadline - now);
}

double AdmissionForecast::DueWorkOf(const Job& job, TimePoint now) const {
  const double work = WorkOf(job);
  const models::TimeLimit& limit = job.request.limit();
  if (!job.request.is_streamed() || limit.deadline >= limit.last || HasTimeAlone(job, now))
    return work;
  return std::min(work, pace_.work_per_step());
}

bool AdmissionForecast::MayFit(double work, TimePoint end, TimePoint now) const {
  return end == TimePoint::max() || pace_.steps() < kStepsToJudge ||
         kDoubtful * SecondsAlone(work) <= Seconds(end - now);
}

absl::Status AdmissionForecast::CheckLength(const Job& job, TimePoint now) const {
  const models::TimeLimit& limit = job.request.limit();
  const bool client_waits = MayFit(WorkOf(job), limit.last, now);
  if (client_waits && MayFit(DueWorkOf(job, now), limit.deadline, now)) return absl::OkStatus();
  const double seconds = SecondsAlone(WorkOf(job));
  const double left = std::max(0.0, Seconds((client_waits ? limit.deadline : limit.last) - now));
  std::string message = StrCat(
      InputField(job.model->info().task()), ": would take about ", TimeText(seconds), " here, and ",
      client_waits
          ? StrCat("at most ",
                   TimeText(Seconds(limit.most > Duration::zero() ? limit.most
                                                                  : limit.deadline - job.admitted)),
                   " are allowed (--max-request-time)")
          : StrCat("the client's own deadline (--timeout of `millrace`) leaves ", TimeText(left)));
  const size_t characters = TextLength(job.request.input());
  const double fit = static_cast<double>(characters) * left / seconds;
  if (fit >= 1)
    message += StrCat("; about ", Rounded(fit), " of its ", characters, " characters fit");
  return NeverFitting(std::move(message));
}

double AdmissionForecast::Reserve() const { return kReserveSteps * pace_.seconds_per_step(); }

bool AdmissionForecast::HasTimeFor(double more_work, double stretch, TimePoint now,
                                   double workers) const {
  return earliest_ == TimePoint::max() || stretch * SecondsFor(AllWork() + more_work, workers) <=
                                              Seconds(earliest_ - now) - Reserve();
}

void AdmissionForecast::RefreshLoad(const JobLines& lines, TimePoint now, double workers) {
  if (changes_ == 0 || changes_ < requests() / kChangedPart) return;
  changes_ = 0;
  added_ = 0;
  load_.Begin(now, Reserve(), AtOnce());
  const auto add = [&](TimePoint deadline, double work) {
    if (deadline != TimePoint::max())
      load_.Add(deadline, SecondsFor(work, workers), SecondsAlone(work));
  };
  for (const JobLines::Line* line : lines.all()) {
    for (const auto& job : *line) add(job->request.deadline(), DueWorkOf(*job, now));
  }
  for (const Running& running : running_work_) {
    if (running.work > 0) add(running.deadline, running.due_work);
  }
  load_.Build();
  earliest_ = load_.earliest();
}

absl::Status AdmissionForecast::Admit(Job& job, const JobLines& lines, double part_before,
                                      TimePoint now, double workers) {
  const TimePoint deadline = job.request.deadline();
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
  double wait = WaitForOthers(workers, part_before);
  bool in_time = kAdmitted * margin * wait + service <= left - Reserve();
  if (requests() == 0) {
    // Admits a doubtful job, so that the pace is measured again.
    in_time |= pace_.steps() < kStepsToJudge || kDoubtful * service <= left;
  } else if (part_before < 1) {
    // The others have more than their share, so what they would lose by this job does not count.
  } else if (wait > 0 && !(in_time && HasTimeFor(work, margin, now, workers))) {
    RefreshLoad(lines, now, workers);
    const double added = SecondsFor(added_, workers);
    wait = load_.DueBy(deadline) + added;
    in_time = kAdmitted * margin * wait + service <= left - Reserve() &&
              added + SecondsFor(work, workers) <= load_.Room(deadline) / margin;
  }
  if (!in_time) {
    return Refused(Refusal::kDeadline,
                   StrCat("model '", job.model->info().name,
                          "' is busy: the deadline would pass before this request is done"),
                   std::chrono::duration<double>(wait > 0 ? wait : kOtherModelsSeconds));
  }
  // The forecast is of the end, not of the first part.
  if (whole) job.forecast = margin_.Expect(wait + service);
  return absl::OkStatus();
}

bool AdmissionForecast::IsPressed(const JobLines& lines, TimePoint now, double workers) {
  const double stretch = kPressed * margin_.factor();
  if (!pace_.known() || HasTimeFor(0, stretch, now, workers)) return false;
  RefreshLoad(lines, now, workers);
  return load_.Excess(stretch) > 0;
}

double AdmissionForecast::Excess(TimePoint& deadline) const {
  return pace_.steps() < kStepsToJudge ? 0 : load_.Excess(1, &deadline);
}

}  // namespace millrace::server
