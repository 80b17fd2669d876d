#pragma once

namespace millrace::server {

// How far the forecasts of a queue are off, and what is added to one so that it holds nearly
// always.
//
// The estimator of TCP's retransmission timer (Jacobson and Karels 1988; RFC 6298): a moving mean
// of actual time over forecast, and four mean deviations on top. Requests end far more often than a
// round trip is measured, so the weights are divided (RFC 7323, appendix G), and a deviation is
// from what was expected when the request came, since that is what decided: what has been learned
// in the meantime comes too late for it.
//
// Nobody can drive it far: no request counts as later than kMost times its forecast, and no
// forecast is stretched further. So even the largest margin admits where half the deadline is left,
// from which it learns again.
//
// Not thread-safe. Costs a few additions.
class ForecastMargin {
 public:
  static constexpr double kMost = 2;

  // A forecast as it was made. Seconds; both 0: there was none.
  struct Made {
    double seconds = 0;   // at the pace of that time
    double expected = 0;  // corrected by the mean of that time
  };

  // seconds >= 0.
  Made Expect(double seconds) const { return {seconds, mean_ * seconds}; }
  // What to multiply a forecast by to hold it against a deadline; 1..kMost.
  double factor() const;

  // That a request took so many seconds. Ignored where there was no forecast.
  void Took(double seconds, const Made& made);
  // That a request was given up after so long: it would have taken at least that. Without these
  // only those count that were quick enough to end. Tells nothing of one given up before it was
  // expected to end.
  void TookMoreThan(double seconds, const Made& made);

 private:
  // Of actual time over forecast. At first a quarter is added: as much as the pace was measured to
  // drop when an overload begins, before anything has ended that could tell.
  double mean_ = 1;
  double deviation_ = 1.0 / 16;
};

}  // namespace millrace::server
