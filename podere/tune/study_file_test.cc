#include "podere/tune/study_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/read_file.h"
#include "podere/base/temporary_folder.h"
#include "podere/tune/kept_study.h"
#include "podere/tune/searches.h"

namespace podere::tune {
namespace {

const char* const kJournalSpace = R"(
rate = { low = 1e-5, high = 1.0, log = true }
depth = { low = 1, high = 12 }
growth = ["level", "best-first"]
leaves = { low = 8, high = 512, log = true, when = { growth = "best-first" } }
bins = 256
)";

Space journal_space() { return Space::from_toml(kJournalSpace, "space.toml"); }

/// Of each step; trial 2 fails.
StepResult journal_outcome(const Step& step) {
  if (step.trial == 2) return {std::numeric_limits<double>::quiet_NaN(), true, {{"error", "a \"cause\"\n"}}};
  const double loss =
      std::abs(step.setting.at("depth").get<double>() - 5) + 1.0 / (3.0 + static_cast<double>(step.budget));
  return {loss, false, {{"trees", step.budget}, {"log_loss", loss}}};
}

/// Runs a small search from where the file has it. Returns how many steps it did itself.
std::size_t search_with(const std::string& path, bool is_maximized = false, std::size_t n_most_steps = 1000,
                        Schedule schedule = Schedule::kAsha) {
  const auto search = random_search(journal_space(), 4);
  auto writer = std::make_unique<StudyWriter>(path, journal_space());
  const std::string recorded = writer->text();
  KeptStudy kept({.n_trials = 7, .schedule = schedule, .eta = 2, .most_budget = 4, .parallel = 2}, *search,
                 {"a search", is_maximized, {{"rows", 7}}}, "the study", recorded, std::move(writer));
  std::size_t n_steps = 0;
  while (!kept.study().to_do().empty()) {
    if (n_steps++ == n_most_steps) return n_steps;
    const Step step = kept.study().to_do().front();
    kept.report(step, journal_outcome(step));
  }
  EXPECT_EQ(kept.fault(), "");
  return n_steps;
}

void write_text(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::string without_times(const std::string& text) {
  return std::regex_replace(text, std::regex(R"("\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}")"), "TIME");
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string study_refusal(const std::string& text) {
  try {
    study_from_text(text, "file.journal");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

class StudyJournal : public testing::Test {
 protected:
  std::string path(const std::string& name = "a.journal") const { return (folder_.path() / name).string(); }

 private:
  TemporaryFolder folder_{std::filesystem::temp_directory_path()};
};

TEST_F(StudyJournal, IsReadAsItWasWritten) {
  const std::size_t n_steps = search_with(path());
  const RecordedStudy read = study_from_text(read_file(path()), "the study");
  EXPECT_EQ(read.head.name, "a search");
  EXPECT_FALSE(read.head.is_maximized);
  EXPECT_EQ(read.head.run, (Json{{"rows", 7}}));
  ASSERT_EQ(read.trials.size(), 7U);
  const auto search = random_search(journal_space(), 4);
  std::size_t n_read = 0;
  for (std::size_t i = 0; i < read.trials.size(); ++i) {
    const RecordedTrial& trial = read.trials[i];
    EXPECT_EQ(trial.setting, search->suggest(i, {}));
    for (const auto& [budget, result] : trial.done) {
      const StepResult expected = journal_outcome({.trial = i, .budget = budget, .setting = trial.setting});
      EXPECT_TRUE(result.loss == expected.loss || (std::isnan(result.loss) && i == 2));
      EXPECT_EQ(result.ended, expected.ended);
      EXPECT_EQ(result.facts, expected.facts);
      ++n_read;
    }
    EXPECT_EQ(trial.state == RecordedTrial::State::kFailed, i == 2);
    EXPECT_EQ(trial.state == RecordedTrial::State::kComplete, trial.done.contains(4));
  }
  EXPECT_EQ(n_read, n_steps);
  EXPECT_EQ(search_with(path()), 0U) << "all is there";
}

TEST_F(StudyJournal, HasRecordsAsOptunaHasThem) {
  search_with(path(), true);
  const std::vector<std::string> lines = lines_of(read_file(path()));
  const Json head = Json::parse(lines.at(0));
  EXPECT_EQ(head.at("op_code"), 0);
  EXPECT_EQ(head.at("study_name"), "a search");
  EXPECT_EQ(head.at("directions"), Json::array({2}));
  std::size_t n_trials = 0;
  for (const std::string& line : lines) {
    const Json record = Json::parse(line);
    const int kind = record.at("op_code").get<int>();
    EXPECT_TRUE(record.at("worker_id").is_string());
    if (kind == 4) ++n_trials;
    if (kind >= 5) {
      EXPECT_LT(record.at("trial_id").get<std::size_t>(), n_trials) << line;
    }
    if (kind == 7) {
      EXPECT_LT(record.at("intermediate_value").get<double>(), 0) << "a score, not a loss";
    }
    if (kind != 5) continue;
    const Json distribution = Json::parse(record.at("distribution").get<std::string>());
    const auto value = record.at("param_value_internal").get<double>();
    const Json& of = distribution.at("attributes");
    if (distribution.at("name") == "CategoricalDistribution") {
      EXPECT_LT(value, static_cast<double>(of.at("choices").size()));
    } else {
      EXPECT_LE(of.at("low").get<double>(), value);
      EXPECT_GE(of.at("high").get<double>(), value);
    }
  }
  EXPECT_EQ(n_trials, 7U);
  EXPECT_TRUE(study_from_text(read_file(path()), "the study").head.is_maximized);
}

TEST_F(StudyJournal, ContinuesAfterAnyCut) {
  for (const Schedule schedule : {Schedule::kAsha, Schedule::kHyperband}) {
    const std::string file = path(to_string(schedule));
    search_with(file, false, 1000, schedule);
    const std::string whole = read_file(file);
    const std::string expected = without_times(whole);
    const std::size_t n_head_bytes = whole.find('\n', whole.find('\n') + 1) + 1;
    for (std::size_t size = 0; size <= whole.size(); size += size < n_head_bytes + 9 ? 1 : 149) {
      write_text(path("cut"), whole.substr(0, size));
      search_with(path("cut"), false, 1000, schedule);
      ASSERT_EQ(without_times(read_file(path("cut"))), expected)
          << to_string(schedule) << ", cut after " << size << " of " << whole.size();
    }
  }
}

TEST_F(StudyJournal, ContinuesASearchThatWasStopped) {
  search_with(path());
  for (std::size_t n_steps = 0; n_steps < 12; ++n_steps) {
    search_with(path("stopped"), false, n_steps);
    search_with(path("stopped"));
    EXPECT_EQ(without_times(read_file(path("stopped"))), without_times(read_file(path())));
    std::filesystem::remove(path("stopped"));
  }
}

TEST_F(StudyJournal, IsNotChangedBeforeTheFirstRecord) {
  for (const std::string text : {"a,b\n1,2\n", "a,b", "{\"op_code\":4,\"x\":1}\n{\"op_code\":5", "\n\n", "\xff\n"}) {
    write_text(path(), text);
    {
      const StudyWriter writer(path(), journal_space());
      EXPECT_EQ(writer.text(), text);
    }
    EXPECT_EQ(read_file(path()), text);
    EXPECT_NE(study_refusal(text), "accepted");
  }
}

TEST_F(StudyJournal, RecordsOfOtherProgramsStay) {
  search_with(path());
  const std::string note = R"({"op_code": 3, "worker_id": "dashboard", "study_id": 0, "system_attr": {"note": "x"}})"
                           "\n"
                           R"({"op_code": 9, "worker_id": "dashboard", "trial_id": 1, "system_attr": {"n": 1}})"
                           "\n";
  search_with(path("other"), false, 4);
  const std::string before = read_file(path("other"));
  write_text(path("other"), before + note);
  search_with(path("other"));
  const std::string after = read_file(path("other"));
  EXPECT_EQ(after.substr(0, before.size() + note.size()), before + note);
  EXPECT_EQ(without_times(before + after.substr(before.size() + note.size())), without_times(read_file(path())));
}

TEST_F(StudyJournal, RecordsThatOtherProgramsAppendMeanwhileStay) {
  const std::string note = "{\"op_code\": 3, \"worker_id\": \"dashboard\", \"study_id\": 0, \"system_attr\": {}}\n";
  StudyWriter writer(path(), journal_space());
  writer.begin({"a search", false, {{"rows", 7}}});
  Step step{.trial = 0, .budget = 1, .setting = journal_space().setting_at(std::vector<double>(4, 0.5))};
  writer.note(step, journal_outcome(step), false);
  const std::string before = read_file(path());
  std::ofstream(path(), std::ios::app) << note;
  step.trial = 1;
  writer.note(step, journal_outcome(step), false);
  const std::string after = read_file(path());
  EXPECT_TRUE(after.starts_with(before + note));
  EXPECT_EQ(study_from_text(after, "the study").trials.size(), 2U);
}

TEST_F(StudyJournal, OneProcessAtATimeHasIt) {
  const StudyWriter writer(path(), journal_space());
  try {
    const StudyWriter other(path(), journal_space());
    ADD_FAILURE() << "two writers";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()), path() + ": another command is at work on it");
  }
}

TEST_F(StudyJournal, WhatCannotBeOpenedIsRefused) {
  EXPECT_THROW(StudyWriter(path("no/folder.journal"), journal_space()), InputError);
  EXPECT_THROW(StudyWriter(std::filesystem::path(path()).parent_path().string(), journal_space()), InputError);
}

TEST_F(StudyJournal, OfNothingWrittenNothingIsLeft) {
  { const StudyWriter writer(path(), journal_space()); }
  EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(path()).parent_path()));
}

TEST_F(StudyJournal, WhatIsNoStudyIsRefusedWithItsLine) {
  const std::string head = R"({"op_code":0,"worker_id":"podere","study_name":"s","directions":[1]})"
                           "\n";
  const std::string run = R"({"op_code":2,"worker_id":"podere","study_id":0,"user_attr":{"podere":{"rows":7}}})"
                          "\n";
  const std::string state = R"({"op_code":6,"worker_id":"podere","trial_id":0,"state":1,"values":[1.0]})"
                            "\n";
  EXPECT_EQ(study_refusal(head + run), "accepted");
  EXPECT_EQ(study_refusal(""), "file.journal: is no study of podere tune: it is empty");
  EXPECT_EQ(study_refusal(head), "file.journal: is no study of podere tune");
  const std::string no_record = ": is no record of a study; give the file that podere tune --study wrote";
  EXPECT_EQ(study_refusal("a,b\n1,2\n"), "file.journal, line 1" + no_record);
  EXPECT_EQ(study_refusal(head + run + "[]\n"), "file.journal, line 3" + no_record);
  EXPECT_EQ(study_refusal(head + run + "\n"), "file.journal, line 3" + no_record);
  EXPECT_EQ(study_refusal(head + run + state), "file.journal, line 3" + no_record) << "there is no trial 0";
  EXPECT_EQ(study_refusal(head + run + R"({"op_code":1e300})" + "\n"), "file.journal, line 3" + no_record);
  const std::string trial = R"({"op_code":4,"worker_id":"podere","study_id":0})"
                            "\n";
  for (const char* name : {"after ", "after x", "after -1", "after 1x", "after 99999999999999999999999"}) {
    const std::string step = R"({"op_code":8,"trial_id":0,"user_attr":{")" + std::string(name) +
                             R"(":{"loss":1,"ended":false,"facts":{}}}})"
                             "\n";
    EXPECT_EQ(study_refusal(head + run + trial + step), "file.journal, line 4" + no_record) << name;
  }
}

}  // namespace
}  // namespace podere::tune
