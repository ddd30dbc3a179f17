#include "podere/jobs/job.h"

#include <gtest/gtest.h>

#include <cmath>

#include "podere/base/error.h"
#include "podere/jobs/describe_job.h"
#include "podere/jobs/evaluate_job.h"
#include "podere/jobs/explain_job.h"
#include "podere/jobs/predict_job.h"
#include "podere/jobs/table_jobs.h"
#include "podere/jobs/train_job.h"

namespace podere::jobs {
namespace {

std::string refusal(const std::string& text) {
  try {
    job_from_json(Json::parse(text));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

/// A job with another value than its default in every field.
TrainJob full_train_job() {
  TrainJob train;
  train.table.location = "a.csv";
  train.table.rows = {5, 50};
  train.table.label = "y";
  train.table.weight = "3";
  train.table.columns = {"a", "b"};
  train.table.drop = {"c"};
  train.table.delimiter = ';';
  train.table.header = false;
  train.table.missing = {"?"};
  train.table.format = "idx";
  train.table.labels = "labels";
  train.table.n_features = 9;
  train.table.zero_based = true;
  train.validation = source::SourceSpec{"collider:1e3?seed=7", {.last_row = 10}};
  train.algorithm = "network";
  train.options = {{"hidden", {10, 3}}, {"seed", 18446744073709551615u}};
  train.low_memory = true;
  train.checkpoint_seconds = 0.5;
  train.summary_steps = 8;
  train.tensorboard = "board";
  train.from = "old.json";
  return train;
}

TEST(Job, WithEveryFieldSetComesBackTheSame) {
  const Job job = full_train_job();
  const Json json = to_json(job);
  const Job back = job_from_json(Json::parse(json.dump()));
  EXPECT_EQ(to_json(back), json);
  const Json& table = json["table"];
  EXPECT_EQ(table["delimiter"], ";");
  EXPECT_EQ(table["header"], false);
  EXPECT_EQ(table["columns"], Json({"a", "b"}));
  EXPECT_EQ(table["drop"], Json::array({"c"}));
  EXPECT_EQ(table["last_row"], 50);
  EXPECT_EQ(table["format"], "idx");
  EXPECT_EQ(table["labels"], "labels");
  EXPECT_EQ(table["n_features"], 9);
  EXPECT_EQ(table["zero_based"], true);
  EXPECT_EQ(json["validation"]["location"], "collider:1e3?seed=7");
  EXPECT_EQ(json["algorithm"], "network");
  EXPECT_EQ(json["options"], full_train_job().options);
  EXPECT_EQ(json["from"], "old.json");
}

TEST(Job, LeavesOutWhatHasItsDefault) {
  EXPECT_EQ(to_json(PredictJob{{"a.csv", {}}, "m.json", "out.csv"}),
            Json::parse(R"({"kind":"predict","table":{"location":"a.csv"},"model":"m.json","output":"out.csv"})"));
  EXPECT_EQ(to_json(ExplainJob{{"a.csv", {}}, "m.json", "", 5, 0}),
            Json::parse(R"({"kind":"explain","table":{"location":"a.csv"},"model":"m.json","permutation_repeats":5})"));
  EXPECT_EQ(to_json(DescribeJob{{"a.csv", {}}}), Json::parse(R"({"kind":"describe","table":{"location":"a.csv"}})"));
}

TEST(Job, KeepsNumbersThatAreNone) {
  const Json json = to_json(SplitJob{.table = {"a.csv", {}}, .fraction = std::nan("")});
  EXPECT_TRUE(json.contains("fraction"));
  EXPECT_EQ(refusal(json.dump()), "job: split.fraction must be a number, it is null");
}

TEST(Job, KnowsItsTablesAndPaths) {
  TrainJob train = full_train_job();
  train.checkpoint = "kept.json";
  Job job = train;
  ASSERT_EQ(job.sources().size(), 2u);
  EXPECT_EQ(job.sources()[1]->location, "collider:1e3?seed=7");
  const Job copy = job;
  *job.path(PathUse::kCheckpoint) = "another.json";
  EXPECT_EQ(copy.paths(),
            (std::vector<std::pair<PathUse, std::string>>{
                {PathUse::kInput, "old.json"}, {PathUse::kCheckpoint, "kept.json"}, {PathUse::kFolder, "board"}}));
  const auto checkpoint_of = [](const Job& of) { return of.path(PathUse::kCheckpoint); };
  EXPECT_EQ(checkpoint_of(with_checkpoint(copy, "fallback")), "kept.json");
  EXPECT_EQ(checkpoint_of(with_checkpoint(TrainJob(), "fallback")), "fallback");
  EXPECT_EQ(to_json(with_checkpoint(DropJob{"a"}, "fallback")), to_json(DropJob{"a"}));
}

TEST(Job, WithAFieldOfAStrangeNameIsRefusedInOneLine) {
  EXPECT_EQ(refusal(R"({"kind":"drop","a\nb":1})"), "job: drop: 'a\\x0ab' is not known, there are name");
}

TEST(Job, OfEachKindIsRecognized) {
  for (const char* kind : {"train", "evaluate", "predict", "describe", "explain"}) {
    EXPECT_EQ(job_from_json(Json{{"kind", kind}, {"table", {{"location", "x"}}}}).kind(), kind);
  }
}

/// A job, and what the refusal says.
class JobRefused : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(JobRefused, ForWhatItNames) {
  const auto& [text, words] = GetParam();
  EXPECT_NE(refusal(text).find(words), std::string::npos) << text << ": " << refusal(text);
}

INSTANTIATE_TEST_SUITE_P(
    , JobRefused,
    testing::Values(std::pair("null", "kind must be"), std::pair("3", "kind must be"), std::pair("[]", "kind must be"),
                    std::pair("{}", "kind must be"), std::pair("\"train\"", "kind must be"),
                    std::pair(R"({"kind":"fly"})", "kind must be"),
                    std::pair(R"({"kind":null})", "kind must be a text, it is null"),
                    std::pair(R"({"kind":"describe"})", "describe.table.location is missing"),
                    std::pair(R"({"kind":"train","table":{"location":"x"},"validation":{}})",
                              "train.validation.location is missing"),
                    std::pair(R"({"kind":"train","table":{"location":"x"},"low_memory":1})",
                              "job: train.low_memory must be true or false, it is 1"),
                    std::pair(R"({"kind":"train","table":{"location":"x"},"optoins":{}})",
                              "'optoins' is not known, there are table, "),
                    std::pair(R"({"kind":"train","table":{"location":"x","first_row":-1}})", "table.first_row"),
                    std::pair(R"({"kind":"train","table":{"location":"x","delimiter":",,"}})", "table.delimiter")));

/// Calls `visit(object, name)` for each member of `json` and of the objects in it, options of an algorithm excepted.
template <typename Visit>
void visit_members(Json& json, Visit&& visit) {
  for (auto& [name, value] : json.items()) {
    if (value.is_object() && name != "options") visit_members(value, visit);
    visit(value, name);
  }
}

TEST(Job, WithAnyFieldOfAnyWrongTypeIsRefusedByItsName) {
  const Json some = {nullptr, true, -1, 3, 0.5, 1e300, "", "text", Json::array(), {1, 2}, Json::object(), {{"a", 1}}};
  for (const Job& job : {Job(full_train_job()), Job(EvaluateJob{{"a.csv", {}}, "m.json", 7}),
                         Job(PredictJob{{"a.csv", {}}, "m.json", "out.csv", true}), Job(DescribeJob{{"a.csv", {}}}),
                         Job(ExplainJob{{"a.csv", {}}, "m.json", "out.csv", 5, 7})}) {
    Json json = to_json(job);
    visit_members(json, [&](Json& member, const std::string& name) {
      const Json right = member;
      std::size_t n_refused = 0;
      for (const Json& wrong : some) {
        member = wrong;
        const std::string message = refusal(json.dump());  // throws if it is refused otherwise than it should be
        n_refused += message == "accepted" ? 0 : 1;
        if (wrong.type() == right.type() || message == "accepted" || wrong.is_object()) continue;
        EXPECT_NE(message.find(name), std::string::npos) << wrong << " gives " << message;
      }
      EXPECT_GE(n_refused, some.size() / 2) << name;
      member = right;
    });
  }
}

}  // namespace
}  // namespace podere::jobs
