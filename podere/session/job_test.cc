#include "podere/session/job.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"

namespace podere::session {
namespace {

std::string refusal(const std::string& text) {
  try {
    job_from_json(Json::parse(text));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Job, WithEveryFieldSetComesBackTheSame) {
  TrainJob train;
  train.table.location = "a.csv";
  train.table.csv = {.delimiter = ';',
                     .header = false,
                     .label = "y",
                     .weight = "3",
                     .columns = {"a", "b"},
                     .missing = {"?"},
                     .first_row = 5,
                     .last_row = 50};
  train.validation = SourceSpec{"collider:1e3?seed=7", {.last_row = 10}};
  train.options = {.objective = tree::Objective::kSoftmax,
                   .n_classes = 3,
                   .quantile = 0.9,
                   .max_delta_step = 0.5,
                   .class_weight = {1, 2.5},
                   .balance_classes = true,
                   .scale_pos_weight = 3,
                   .base_score = 0.25,
                   .n_trees = 7,
                   .depth = 4,
                   .max_leaves = 9,
                   .bins = 16,
                   .learning_rate = 0.3,
                   .lambda = 2.5,
                   .min_child_weight = 0.5,
                   .min_gain = 0.25,
                   .subsample = 0.5,
                   .column_subsample = 0.75,
                   .validation_fraction = 0.125,
                   .early_stopping_rounds = 3,
                   .seed = 18446744073709551615u};
  train.from = "old.json";
  const Job job = train;
  const Json json = to_json(job);
  const Job back = job_from_json(Json::parse(json.dump()));
  EXPECT_EQ(to_json(back), json);
  const auto& read = std::get<TrainJob>(back);
  EXPECT_EQ(read.table.csv.delimiter, ';');
  EXPECT_EQ(read.table.csv.header, false);
  EXPECT_EQ(read.table.csv.columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(read.table.csv.last_row, 50u);
  EXPECT_EQ(read.validation->location, "collider:1e3?seed=7");
  EXPECT_EQ(read.options.objective, tree::Objective::kSoftmax);
  EXPECT_EQ(read.options.seed, 18446744073709551615u);
  EXPECT_EQ(read.options.class_weight, (std::vector<double>{1, 2.5}));
  EXPECT_EQ(read.options.base_score, 0.25);
  EXPECT_EQ(read.from, "old.json");
  EXPECT_EQ(json["options"].size(), 21u) << "an option that does not travel";
  EXPECT_EQ(json["options"]["n_trees"], 7) << "another name than in the model file";
}

TEST(Job, LeavesOutWhatHasItsDefault) {
  EXPECT_EQ(to_json(PredictJob{{"a.csv", {}}, "m.json", "out.csv", false, 0}),
            Json::parse(R"({"kind":"predict","table":{"location":"a.csv"},"model":"m.json","output":"out.csv"})"));
  EXPECT_EQ(to_json(ExplainJob{{"a.csv", {}}, "m.json", "", 5, 0}),
            Json::parse(R"({"kind":"explain","table":{"location":"a.csv"},"model":"m.json","permutation_repeats":5})"));
  EXPECT_EQ(to_json(DescribeJob{{"a.csv", {}}}), Json::parse(R"({"kind":"describe","table":{"location":"a.csv"}})"));
}

TEST(Job, OfEachKindIsRecognised) {
  const auto index = [](const char* kind) {
    return job_from_json(Json{{"kind", kind}, {"table", {{"location", "x"}}}}).index();
  };
  EXPECT_EQ(index("train"), 0u);
  EXPECT_EQ(index("evaluate"), 1u);
  EXPECT_EQ(index("predict"), 2u);
  EXPECT_EQ(index("describe"), 3u);
  EXPECT_EQ(index("explain"), 4u);
}

TEST(Job, ThatIsNoneIsRefused) {
  for (const char* text : {"null", "3", "[]", "{}", R"({"kind":"fly"})", R"({"kind":null})", "\"train\""}) {
    EXPECT_NE(refusal(text), "accepted") << text;
  }
}

TEST(Job, WithAnUnknownFieldIsRefusedByItsName) {
  EXPECT_NE(refusal(R"({"kind":"train","table":{"location":"x"},"options":{"dept":3}})").find("dept"),
            std::string::npos);
}

TEST(Job, WithoutATableIsRefused) {
  EXPECT_NE(refusal(R"({"kind":"describe"})").find("table.location"), std::string::npos);
}

TEST(Job, WithAFieldOfTheWrongTypeIsRefusedByItsPlace) {
  EXPECT_EQ(refusal(R"({"kind":"train","table":{"location":"x"},"options":{"depth":"deep"}})"),
            "job: train.options.depth must be a whole number, it is \"deep\"");
  EXPECT_NE(refusal(R"({"kind":"train","table":{"location":"x"},"options":{"depth":1e99}})"), "accepted");
  EXPECT_NE(refusal(R"({"kind":"train","table":{"location":"x"},"options":{"depth":4294967297}})"), "accepted");
  EXPECT_NE(refusal(R"({"kind":"train","table":{"location":"x","first_row":-1}})"), "accepted");
  EXPECT_NE(refusal(R"({"kind":"train","table":{"location":"x","delimiter":",,"}})"), "accepted");
  EXPECT_NE(refusal(R"({"kind":"train","table":{"location":"x","columns":"a"}})"), "accepted");
  EXPECT_NE(refusal(R"({"kind":"predict","table":{"location":"x"},"margin":1})"), "accepted");
  EXPECT_NE(refusal(R"({"kind":"train","table":"x"})"), "accepted");
}

}  // namespace
}  // namespace podere::session
