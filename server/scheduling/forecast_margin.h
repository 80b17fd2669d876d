#pragma once

namespace millrace::server {

// Measures how far the forecasts of a queue are off, and gives the margin that makes a forecast
// hold nearly always.
//
// It is the estimator of TCP's retransmission timer (Jacobson and Karels 1988; RFC 6298): a moving
// mean of actual time over forecast, plus four mean deviations. Requests end far more often than a
// round trip is measured, so the weights are divided (RFC 7323, appendix G). A deviation is taken
// from what was expected when the request arrived, because that was the basis of the decision;
// anything learned later came too late for it.
//
// No client can drive the margin far: no request counts as later than kMost times its forecast, and
// no forecast is stretched further. So even the largest margin admits requests that have twice the
// forecast time left, and learns again from them.
//
// Not thread-safe. It costs a few additions.
class ForecastMargin {
 public:
  static constexpr double kMost = 2;

  // A forecast as it was made, in seconds; both are 0 when there was none.
  struct Made {
    double seconds = 0;   // at the pace of that time
    double expected = 0;  // corrected by the mean of that time
  };

  // Makes a forecast from `seconds` >= 0 at the present pace.
  Made Expect(double seconds) const { return {seconds, mean_ * seconds}; }
  // Returns the factor by which a forecast is multiplied before it is compared with a deadline;
  // 1..kMost.
  double factor() const;

  // Records that a request took this many seconds. Ignored when there was no forecast.
  void Record(double seconds, const Made& made);
  // Records that a request was given up after this many seconds: it would have taken at least that
  // long. Without these, only requests quick enough to end would count. A request that was given up
  // before it was expected to end shows nothing.
  void RecordGivenUp(double seconds, const Made& made);

 private:
  // The mean of actual time over forecast. A quarter is added at first: that is by how much the
  // pace was measured to drop when an overload begins, before any request has ended that could show
  // it.
  double mean_ = 1;
  double deviation_ = 1.0 / 16;
};

}  // namespace millrace::server
