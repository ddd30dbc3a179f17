#include "podere/session/prometheus.h"

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <cstdlib>
#include <fstream>

#include "podere/base/subprocess.h"
#include "podere/base/temporary_folder.h"
#include "podere/comm/communicator.h"
#include "podere/executor/task_metrics.h"

namespace podere::session {
namespace {

Json measured(const std::string& phase, std::uint64_t n_rows, const Json& losses) {
  const comm::Communicator alone = comm::Communicator::self();
  executor::TaskMeter meter(alone, "/there/is/none");
  meter.enter(phase);
  meter.count_rows(n_rows, 0);
  meter.end();
  return executor::job_metrics("train", meter.gather(alone), losses, 1.5);
}

std::string text_of(const SessionCounters& counters) {
  return prometheus::TextSerializer().Serialize(counters.all()->Collect());
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(SessionCounters, AddUpTheJobsOfASession) {
  SessionCounters counters;
  counters.add_job("train", "done", measured("read", 40, Json::array()));
  counters.add_job("train", "done", measured("read", 2, Json::array({{{"phase", "read"}, {"seconds_lost", 0.5}}})));
  counters.add_job("train", "failed", nullptr);
  counters.set_executors(3);
  const std::string text = text_of(counters);
  EXPECT_TRUE(has_line(text, "podere_executors 3")) << text;
  EXPECT_TRUE(has_line(text, "podere_jobs_total{kind=\"train\",state=\"done\"} 2")) << text;
  EXPECT_TRUE(has_line(text, "podere_jobs_total{kind=\"train\",state=\"failed\"} 1"));
  EXPECT_TRUE(has_line(text, "podere_job_seconds_total{kind=\"train\"} 3"));
  EXPECT_TRUE(has_line(text, "podere_task_read_rows_total{kind=\"train\",phase=\"read\"} 42"));
  EXPECT_TRUE(has_line(text, "podere_executor_losses_total 1"));
  EXPECT_TRUE(has_line(text, "podere_lost_seconds_total 0.5"));
  EXPECT_TRUE(has_line(text, "# TYPE podere_task_cpu_seconds_total counter"));
}

TEST(SessionCounters, WhatNoJobKnowsHasNoValue) {
  SessionCounters counters;
  counters.add_job("train", "done", measured("read", 1, Json::array()));
  EXPECT_EQ(text_of(counters).find("podere_job_energy_joules_total"), std::string::npos);
}

TEST(SessionCounters, LabelsMayHoldAnything) {
  SessionCounters counters;
  counters.add_job("a\"b\\c\nd", "done", nullptr);
  EXPECT_TRUE(has_line(text_of(counters), R"(podere_jobs_total{kind="a\"b\\c\nd",state="done"} 1)"));
}

/// The values that Prometheus' own client library reads, a line each; nothing where it is not installed.
std::optional<std::string> read_by_client(const std::string& text) {
  const TemporaryFolder folder(testing::TempDir());
  const auto path = folder.path() / "text";
  std::ofstream(path) << text;
  const std::string program =
      "import sys\n"
      "try:\n"
      "  from prometheus_client.parser import text_string_to_metric_families as parse\n"
      "except ImportError:\n"
      "  sys.exit(77)\n"
      "for family in parse(open(sys.argv[1]).read()):\n"
      "  for s in family.samples:\n"
      "    print(family.type, s.name, ' '.join(repr(v) for k, v in sorted(s.labels.items())), s.value)\n"
      "print('end')\n";
  Subprocess client(CommandLine{{"/usr/bin/python3", "-c", program, path.string()}});
  std::string lines;
  while (!client.streams_ended()) {
    if (const auto line = client.next_line(1000)) lines += line->text + "\n";
  }
  const auto code = client.wait(10'000);
  if (code == 77) return std::nullopt;
  EXPECT_EQ(code, 0) << lines;
  return lines;
}

TEST(SessionCounters, AreReadByTheClientLibraryOfPrometheus) {
  SessionCounters counters;
  counters.add_job("train", "done", measured("read", 42, Json::array()));
  counters.add_job("a\"b\\c\nd", "done", nullptr);
  counters.set_executors(2);
  const auto lines = read_by_client(text_of(counters));
  if (!lines && std::getenv("CI") == nullptr) GTEST_SKIP() << "python3-prometheus-client is not installed";
  ASSERT_TRUE(lines.has_value());
  EXPECT_TRUE(has_line(*lines, "gauge podere_executors  2.0")) << *lines;
  EXPECT_TRUE(has_line(*lines, R"(counter podere_jobs_total 'a"b\\c\nd' 'done' 1.0)"));
  EXPECT_TRUE(has_line(*lines, "counter podere_task_read_rows_total 'train' 'read' 42.0"));
  EXPECT_TRUE(lines->ends_with("end\n"));
}

}  // namespace
}  // namespace podere::session
