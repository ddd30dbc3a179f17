#include "podere/controller/metrics.h"

#include <gtest/gtest.h>

#include "podere/http/metrics.h"

namespace podere::controller {
namespace {

bool has_line(const Metrics& metrics, const std::string& line) {
  return ("\n" + http::prometheus_text(metrics.families())).find("\npodere_operator_" + line + "\n") !=
         std::string::npos;
}

TEST(Metrics, CountAnExecutorThatGoesThereAndBackWithinAnHourAsACycle) {
  Metrics metrics;
  metrics.executor_reclaimed("hep/cms", "astro/sky", true, 0);
  metrics.executor_reclaimed("hep/cms", "astro/sky", true, 10);
  metrics.executor_reclaimed("hep/geo", "hep/cms", false, 10);
  EXPECT_TRUE(has_line(metrics, "cycles_total 0"));
  metrics.executor_reclaimed("astro/sky", "hep/cms", false, 3000);
  EXPECT_TRUE(has_line(metrics, "cycles_total 1"));
  metrics.executor_reclaimed("hep/cms", "hep/geo", true, 4000);
  EXPECT_TRUE(has_line(metrics, "cycles_total 1")) << "more than an hour after";
  EXPECT_TRUE(has_line(metrics, "reclaims_total{reason=\"guarantee\"} 3")) << http::prometheus_text(metrics.families());
  EXPECT_TRUE(has_line(metrics, "reclaims_total{reason=\"share\"} 2"));
}

TEST(Metrics, CountsOfOthersOnlyGrow) {
  Metrics metrics;
  metrics.set_watches("pods", {.n_lists = 2, .n_watches = 5, .n_failures = 1});
  metrics.set_watches("pods", {.n_lists = 1, .n_watches = 1, .n_failures = 0});
  EXPECT_TRUE(has_line(metrics, "lists_total{resource=\"pods\"} 2"));
  EXPECT_TRUE(has_line(metrics, "watch_restarts_total{resource=\"pods\"} 4"));
  EXPECT_TRUE(has_line(metrics, "watch_failures_total{resource=\"pods\"} 1"));
}

}  // namespace
}  // namespace podere::controller
