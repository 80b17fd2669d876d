#include "server/scheduling/deadline_order.h"

#include <queue>
#include <utility>

#include "server/metrics/model_metrics.h"

namespace millrace::server {

std::vector<size_t> GiveUpLongest(std::span<const DueWork> order, const WorkTimes& times) {
  std::vector<size_t> given_up;
  double before = 0;
  std::priority_queue<std::pair<double, size_t>> longest;
  for (size_t i = 0; i < order.size() && order[i].deadline != TimePoint::max(); ++i) {
    const double work = order[i].work;
    longest.emplace(work, i);
    const double begins = longest.size() <= times.at_once ? 0 : times.seconds_together(before);
    const bool in_time =
        begins + times.seconds_alone(work) <= Seconds(order[i].deadline - times.now);
    before += work;
    if (in_time) continue;
    before -= longest.top().first;
    given_up.push_back(longest.top().second);
    longest.pop();
  }
  return given_up;
}

}  // namespace millrace::server
