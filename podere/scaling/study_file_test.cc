#include "podere/scaling/study_file.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"

namespace podere::scaling {
namespace {

Study study_on(const std::string& cpu) {
  return {.command = "podere train gbt a.csv",
          .weak_rows = {},
          .cpu = cpu,
          .usable_cores = 2,
          .runs = {{.executors = 1, .cores = 1, .seconds = 2, .rows = 10}},
          .network = {}};
}

Study without_runs(const std::string& cpu) {
  Study study = study_on(cpu);
  study.runs.clear();
  return study;
}

TEST(StudyFile, IsReadAgain) {
  const TemporaryFolder folder(testing::TempDir());
  const StudyFile file(folder.path() / "s.json");
  Study study = without_runs("a cpu");
  file.read_into(study);  // which is not there yet
  EXPECT_TRUE(study.runs.empty());
  file.write(to_json(study_on("a cpu")));
  file.read_into(study);
  EXPECT_EQ(study.runs.size(), 1);
}

TEST(StudyFile, OfAnotherMachineOrCommandIsRefused) {
  const TemporaryFolder folder(testing::TempDir());
  const StudyFile file(folder.path() / "s.json");
  file.write(to_json(study_on("a cpu")));
  Study elsewhere = without_runs("another cpu");
  EXPECT_THROW(file.read_into(elsewhere), InputError);
  Study other = without_runs("a cpu");
  other.command += " --trees 3";
  EXPECT_THROW(file.read_into(other), InputError);
}

TEST(StudyFile, IsOfOneStudyAtATime) {
  const TemporaryFolder folder(testing::TempDir());
  const StudyFile file(folder.path() / "s.json");
  EXPECT_THROW(StudyFile(folder.path() / "s.json"), InputError);
  EXPECT_THROW(StudyFile(folder.path()), InputError);
}

}  // namespace
}  // namespace podere::scaling
