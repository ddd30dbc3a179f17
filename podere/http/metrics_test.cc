#include "podere/http/metrics.h"

#include <gtest/gtest.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

namespace podere::http {
namespace {

std::vector<prometheus::MetricFamily> some_families() {
  prometheus::Registry registry;
  prometheus::BuildCounter()
      .Name("jobs_total")
      .Help("Jobs.")
      .Register(registry)
      .Add({{"kind", "a \"b\""}})
      .Increment(2);
  prometheus::BuildGauge().Name("executors").Help("Executors.").Register(registry).Add({}).Set(3);
  prometheus::BuildHistogram()
      .Name("decision_seconds")
      .Help("Durations.")
      .Register(registry)
      .Add({}, std::vector<double>{0.5, 10})
      .Observe(1);
  return registry.Collect();
}

TEST(Metrics, AreOpenMetricsForThoseWhoAskForThem) {
  const Answer answer =
      metrics_answer(some_families(), {.accept = "application/openmetrics-text;version=1.0.0,*/*;q=0.1"});
  EXPECT_EQ(answer.type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
  for (const char* line : {"# TYPE jobs counter\n", "# HELP jobs Jobs.\n", "jobs_total{kind=\"a \\\"b\\\"\"} 2\n",
                           "# TYPE executors gauge\n", "decision_seconds_bucket{le=\"10.0\"} 1\n",
                           "decision_seconds_bucket{le=\"0.5\"} 0\n"}) {
    EXPECT_NE(answer.body.find(line), std::string::npos) << line << answer.body;
  }
  EXPECT_TRUE(answer.body.ends_with("\n# EOF\n"));
}

TEST(Metrics, ArePrometheusTextForAllOthers) {
  const Answer answer = metrics_answer(some_families(), {});
  EXPECT_EQ(answer.type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_NE(answer.body.find("# TYPE jobs_total counter\n"), std::string::npos);
  EXPECT_EQ(answer.body.find("# EOF"), std::string::npos);
}

}  // namespace
}  // namespace podere::http
