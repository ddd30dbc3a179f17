#include <gtest/gtest.h>

#include "podere/base/error.h"
#include "podere/jobs/job_context.h"
#include "podere/jobs/network_job.h"

namespace podere::jobs {
namespace {

TEST(NetworkJob, MeasuresBetweenTwoExecutorsOrMore) {
  const auto comm = comm::Communicator::world();
  Progress progress;
  KeptTables tables;
  Json files;
  const JobContext context{comm, 1, progress, tables, files};
  if (comm.size() == 1) {
    EXPECT_THROW(run(NetworkJob{}, context), InputError);
    return;
  }
  EXPECT_THROW(run(NetworkJob{.n_runs = 0}, context), InputError);
  const Json found = run(NetworkJob{.n_runs = 3}, context);
  EXPECT_GT(found.at("latency_us").get<double>(), 0);
  EXPECT_GT(found.at("gigabits").get<double>(), 0);
}

}  // namespace
}  // namespace podere::jobs
