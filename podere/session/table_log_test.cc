#include "podere/session/table_log.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"
#include "podere/jobs/describe_job.h"
#include "podere/jobs/table_jobs.h"

namespace podere::session {
namespace {

Json made(std::initializer_list<const char*> names) {
  Json tables = Json::array();
  for (const char* name : names) tables.push_back({{"name", name}});
  return {{"tables", tables}};
}

class TableLogTest : public testing::Test {
 protected:
  void note(const jobs::Job& job, const Json& result) { log.note(job, Inputs(job), result); }
  void load(const char* name) { note(jobs::LoadJob{{"collider:9", {}}, name}, made({name})); }
  void split(const std::string& table, const char* first, const char* second) {
    note(jobs::SplitJob{{"table:" + table, {}}, 0.5, 0, first, second}, made({first, second}));
  }
  void drop(const char* name) { note(jobs::DropJob{name}, Json::object()); }
  /// "load a", "drop a": what the steps do.
  std::vector<std::string> steps() const {
    std::vector<std::string> texts;
    for (const TableLog::Step& step : log.steps()) {
      const Json job = to_json(step.job);
      texts.push_back(job.at("kind").get<std::string>() + " " +
                      (job.contains("name") ? job["name"] : job["table"]["location"]).get<std::string>());
    }
    return texts;
  }
  std::vector<std::string> tables() const {
    std::vector<std::string> names;
    for (const auto& [name, facts] : log.tables()) names.push_back(name);
    return names;
  }
  using Texts = std::vector<std::string>;
  TableLog log;
};

TEST_F(TableLogTest, TakesNoNoteOfJobsThatMakeNoTables) {
  load("a");
  note(jobs::DescribeJob{{"table:a", {}}}, Json::object());
  EXPECT_EQ(steps(), (Texts{"load a"}));
}

TEST_F(TableLogTest, ForgetsWhatNoTableNeeds) {
  load("a");
  load("b");
  drop("a");
  EXPECT_EQ(steps(), (Texts{"load b"}));
  EXPECT_EQ(tables(), (Texts{"b"}));
}

TEST_F(TableLogTest, MakesWhatOthersNeededAndDropsItAgain) {
  load("a");
  split("a", "x", "y");
  drop("a");
  drop("x");
  EXPECT_EQ(steps(), (Texts{"load a", "split table:a", "drop a", "drop x"}));
  EXPECT_EQ(tables(), (Texts{"y"}));
  drop("y");
  EXPECT_EQ(steps(), Texts{});
}

TEST_F(TableLogTest, ANameMayMeanAnotherTableLater) {
  load("a");
  split("a", "x", "y");
  drop("a");
  load("a");
  EXPECT_EQ(steps(), (Texts{"load a", "split table:a", "drop a", "load a"}));
}

TEST_F(TableLogTest, WhatWasMadeFromALostTableIsGoneToo) {
  load("a");
  load("b");
  split("a", "x", "y");
  log.lose(log.steps()[0].number, "t.csv: changed");
  EXPECT_EQ(tables(), (Texts{"b"}));
  EXPECT_EQ(steps(), (Texts{"load b"}));
  EXPECT_THROW(log.check_usable(jobs::DescribeJob{{"table:y", {}}}), InputError);
  EXPECT_NO_THROW(log.check_usable(jobs::DescribeJob{{"table:b", {}}}));
  load("a");
  EXPECT_NO_THROW(log.check_usable(jobs::DescribeJob{{"table:a", {}}}));
}

}  // namespace
}  // namespace podere::session
