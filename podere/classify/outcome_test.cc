#include "podere/classify/outcome.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "podere/base/error.h"

namespace podere::classify {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::vector<std::uint32_t> labels_of(const std::vector<Score>& scores) {
  std::vector<std::uint32_t> labels;
  for (const Score& score : scores) labels.push_back(score.label);
  return labels;
}

TEST(BestOf, AreInOrderAndOfEqualOnesTheFirstComesFirst) {
  const std::vector<float> scores = {0.25F, 0.5F, kNaN, 0.25F, -1};
  EXPECT_EQ(labels_of(best_of(scores, 5, false)), (std::vector<std::uint32_t>{1, 0, 3, 4, 2}));
  EXPECT_EQ(labels_of(best_of(scores, 2, false)), (std::vector<std::uint32_t>{1, 0}));
  EXPECT_EQ(best_of(scores, 1, false).front().score, 0.5F);
  EXPECT_TRUE(best_of(scores, 0, false).empty());
}

TEST(BestOf, MakesProbabilities) {
  const std::vector<Score> best = best_of(std::vector<float>{0, std::log(3.0F)}, 2, true);
  EXPECT_EQ(labels_of(best), (std::vector<std::uint32_t>{1, 0}));
  EXPECT_NEAR(best[0].score, 0.75, 1e-6);
  EXPECT_NEAR(best[1].score, 0.25, 1e-6);
}

TEST(Outcome, IsTheSameFromItsBytes) {
  Outcome outcome{640,
                  480,
                  {{3, 0.1F}, {0, kNaN}},
                  "damaged",
                  "a \"line\" \xff",
                  {1.5, {}, 1e-3, {}, "SE2", {}},
                  true,
                  std::string("\0a\0", 3)};
  const Outcome again = from_bytes(to_bytes(outcome));
  EXPECT_EQ(again.width, 640U);
  EXPECT_EQ(again.height, 480U);
  EXPECT_TRUE(again.has_other_pages);
  ASSERT_EQ(again.top.size(), 2U);
  EXPECT_EQ(again.top[0].label, 3U);
  EXPECT_EQ(again.top[0].score, 0.1F);
  EXPECT_TRUE(std::isnan(again.top[1].score));
  EXPECT_EQ(again.fault_kind, "damaged");
  EXPECT_EQ(microscope_numbers(again.microscope), microscope_numbers(outcome.microscope));
  EXPECT_EQ(again.microscope.detector, "SE2");
  EXPECT_EQ(again.image, outcome.image);
  EXPECT_TRUE(again.fault.starts_with("a \"line\" "));
  EXPECT_THROW(from_bytes("[1, 2]"), Error);
  EXPECT_THROW(from_bytes("{"), Error);
}

TEST(CsvLine, HasClassesByNameOrNumberAndTheFault) {
  const Outcome good{640, 480, {{1, 0.75F}, {0, 0.25F}}, "", "", {}, {}};
  const Outcome with_facts{1, 2, {{1, 0.75F}, {0, 0.25F}}, "", "", {4.25, 20, {}, 1e4, "SE2", {}}, {}};
  const std::vector<std::string> labels = {"tips", "wires, long"};
  std::string text = csv_head(2);
  append_csv_line("a.tif", good, 2, labels, text);
  append_csv_line("b,c.tif", good, 2, {}, text);
  append_csv_line("d.tif", {0, 0, {}, "empty", "d.tif: has no bytes", {}, {}}, 2, labels, text);
  append_csv_line("e.tif", with_facts, 2, labels, text);
  EXPECT_EQ(text,
            "picture,label,score,label_2,score_2,width,height,error,pixel_size_nm,voltage_kv,working_distance_mm,"
            "magnification,detector\n"
            "a.tif,\"wires, long\",0.75,tips,0.25,640,480,,,,,,\n"
            "\"b,c.tif\",1,0.75,0,0.25,640,480,,,,,,\n"
            "d.tif,,,,,,,\"d.tif: has no bytes\",,,,,\n"
            "e.tif,\"wires, long\",0.75,tips,0.25,1,2,,4.25,20,,10000,SE2\n");
}

}  // namespace
}  // namespace podere::classify
