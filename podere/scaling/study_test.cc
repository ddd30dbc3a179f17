#include "podere/scaling/study.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"
#include "podere/scaling/study_svg.h"

namespace podere::scaling {
namespace {

Run run_of(int executors, int cores, double seconds, const std::string& sha256 = "a") {
  return {.executors = executors,
          .cores = cores,
          .seconds = seconds,
          .wait_share = 0.1 * executors,
          .phases = {{"read", seconds / 4}, {"train", seconds / 2}},
          .rows = 100,
          .peak_memory_bytes = 10,
          .sha256 = sha256};
}

Study study_of(std::vector<Run> runs) {
  return {
      .command = "podere train gbt a.csv", .weak_rows = {}, .cpu = "a cpu", .usable_cores = 4, .runs = std::move(runs)};
}

std::string refusal_of(const std::string& text) {
  try {
    study_of_text(text, "s.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string svg_of(const Study& study) { return study_svg(study, points_of(study)); }

TEST(Scaling, APointIsTheMedianOfItsRuns) {
  const auto points = points_of(study_of({run_of(1, 1, 9), run_of(1, 1, 1), run_of(1, 1, 2)}));
  ASSERT_EQ(points.size(), 1);
  EXPECT_EQ(points[0].n_runs, 3);
  EXPECT_EQ(points[0].seconds, 2);
  EXPECT_EQ(points[0].least_seconds, 1);
  EXPECT_EQ(points[0].most_seconds, 9);
  EXPECT_EQ(points[0].phases.at(1).phase, "train");
  EXPECT_EQ(points[0].phases.at(1).seconds, 1);
  EXPECT_EQ(points_of(study_of({run_of(1, 1, 1), run_of(1, 1, 2)}))[0].seconds, 1.5);
}

TEST(Scaling, EfficiencyIsTheBasesWorkOverThePointsWork) {
  const auto points = points_of(study_of({run_of(2, 2, 4), run_of(1, 2, 5), run_of(1, 1, 8), run_of(2, 1, 4)}));
  ASSERT_EQ(points.size(), 4);
  EXPECT_EQ(points[0].total_cores(), 1);
  EXPECT_EQ(points[0].efficiency, 1);
  EXPECT_EQ(points[1].executors, 1);
  EXPECT_EQ(points[1].speed_up, 8.0 / 5);
  EXPECT_EQ(points[1].efficiency, 0.8);
  EXPECT_EQ(points[2].executors, 2);
  EXPECT_EQ(points[2].efficiency, 1);
  EXPECT_EQ(points[3].speed_up, 2);
  EXPECT_EQ(points[3].efficiency, 0.5);
}

TEST(Scaling, ABaseOfSeveralCoresIsComparedByCores) {
  const auto points = points_of(study_of({run_of(1, 2, 8), run_of(2, 2, 5)}));
  EXPECT_EQ(points[1].speed_up, 1.6);
  EXPECT_EQ(points[1].efficiency, 0.8);
}

TEST(Scaling, OfWeakScalingTheSameTimeIsIdeal) {
  Study study = study_of({run_of(1, 1, 4), run_of(2, 2, 5)});
  study.weak_rows = 100;
  const auto points = points_of(study);
  EXPECT_EQ(points[1].efficiency, 0.8);
  EXPECT_EQ(points[1].speed_up, 3.2);
  EXPECT_FALSE(has_same_results(study).has_value());
}

TEST(Scaling, ResultsAreComparedWhereThereAreSome) {
  EXPECT_TRUE(has_same_results(study_of({run_of(1, 1, 1), run_of(2, 1, 1)})).value());
  EXPECT_FALSE(has_same_results(study_of({run_of(1, 1, 1), run_of(2, 1, 1, "b")})).value());
  EXPECT_FALSE(has_same_results(study_of({run_of(1, 1, 1, "")})).has_value());
  EXPECT_FALSE(has_same_results(study_of({})).has_value());
}

TEST(Scaling, AFileHasTheWholeStudy) {
  Study study = study_of({run_of(1, 1, 4), run_of(2, 2, 5, "b")});
  study.weak_rows = 7;
  const Json json = to_json(study);
  EXPECT_EQ(json.at("points").size(), 2);
  EXPECT_EQ(to_json(study_of_text(to_text(json), "s.json")), json);
}

TEST(Scaling, AFileThatIsNoneIsRefused) {
  for (const char* text : {"", "[]", "{}", "{\"podere_scale\"", "1"}) {
    EXPECT_NE(refusal_of(text).find("s.json: is no study"), std::string::npos) << text;
  }
  EXPECT_NE(refusal_of(std::string(1000, '[')).find("is no study"), std::string::npos);
  EXPECT_NE(refusal_of(R"({"podere_scale": 1})").find("another version"), std::string::npos);
  EXPECT_NE(refusal_of(R"({"podere_scale": 1, "version": "0.0.1"})").find("another version"), std::string::npos);
  Json json = to_json(study_of({run_of(1, 1, 4)}));
  json["runs"][0]["executors"] = 0;
  EXPECT_NE(refusal_of(to_text(json)).find("is damaged"), std::string::npos);
  json["runs"][0]["executors"] = 1e300;
  EXPECT_NE(refusal_of(to_text(json)).find("executors"), std::string::npos);
}

TEST(Scaling, ThePictureHasALineForEachNumberOfCores) {
  const auto n_of = [](const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
  };
  const std::string svg = svg_of(study_of({run_of(1, 1, 8), run_of(2, 1, 4), run_of(1, 2, 5), run_of(2, 2, 3)}));
  EXPECT_EQ(n_of(svg, "class=\"line\""), 4);  // in two panels
  EXPECT_EQ(n_of(svg, "<circle"), 2 + 8);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(Scaling, ModeledPointsAreHollowInThePicture) {
  const Study study = study_of({run_of(1, 1, 8), run_of(2, 1, 4)});
  std::vector<Point> points = points_of(study);
  Point modeled{.executors = 16, .cores = 1, .is_modeled = true};
  modeled.seconds = 1;
  compare(modeled, points.front(), false);
  points.push_back(modeled);
  const std::string svg = study_svg(study, points);
  EXPECT_NE(svg.find("<circle class=\"hollow\" stroke=\"#0072b2\""), std::string::npos);
  EXPECT_NE(svg.find("modeled, not measured"), std::string::npos);
  EXPECT_EQ(svg_of(study).find("<circle class=\"hollow\""), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(Scaling, AStudyIsShownWhateverVersionMeasuredIt) {
  Json json = to_json(study_of({run_of(1, 1, 4)}));
  json["version"] = "0.0.1";
  EXPECT_EQ(study_to_show(to_text(json), "s.json"), json);
  EXPECT_FALSE(study_to_show(R"({"podere_report": 1})", "s.json").has_value());
  EXPECT_FALSE(study_to_show(std::string(1000, '['), "s.json").has_value());
  json["runs"][0]["seconds"] = 0;
  EXPECT_THROW(study_to_show(to_text(json), "s.json"), InputError);
}

TEST(Scaling, APictureOfOnePointOrNoneHasNoNumbersThatAreNone) {
  for (const auto& runs : {std::vector<scaling::Run>{run_of(1, 1, 3)}, std::vector<scaling::Run>{}}) {
    const std::string svg = svg_of(study_of(runs));
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
    EXPECT_NE(svg.find("</svg>"), std::string::npos);
  }
}

TEST(Scaling, ACommandIsTextInThePicture) {
  Study study = study_of({run_of(1, 1, 3)});
  study.command = "podere train gbt '<b>.csv'";
  EXPECT_EQ(svg_of(study).find("<b>"), std::string::npos);
}

}  // namespace
}  // namespace podere::scaling
