#include "podere/jobs/kept_tables.h"

#include <gtest/gtest.h>

#include <cmath>

#include "podere/base/error.h"

namespace podere::jobs {
namespace {

table::Table numbers(std::vector<float> values, table::Schema schema) {
  table::Table table(std::move(schema), values.size(), {0, values.size()});
  std::ranges::copy(values, table.feature(0).begin());
  return table;
}

std::string refusal_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(KeptTables, AreFoundByNameAsLongAsTheyAreKept) {
  KeptTables tables;
  tables.keep("a", numbers({1, 2}, {.features = {"x"}}));
  EXPECT_EQ(tables.find({"table:a", {}}, false).n_rows(), 2U);
  EXPECT_EQ(refusal_of([&] { tables.keep("a", numbers({1}, {.features = {"x"}})); }),
            "there is a table called a already: drop it first");
  tables.drop("a");
  EXPECT_EQ(refusal_of([&] { tables.find({"table:a", {}}, false); }), "there is no table called a; there is none");
}

TEST(KeptTables, RefuseWhatIsGivenWhenFilesAreRead) {
  KeptTables tables;
  tables.keep("a", numbers({1}, {.features = {"x"}}));
  EXPECT_NE(refusal_of([&] { tables.find({.location = "table:a", .label = "x"}, false); }), "none");
  EXPECT_NE(refusal_of([&] { tables.find({"table:a", {.last_row = 1}}, false); }), "none");
  EXPECT_NE(refusal_of([&] { tables.find({"table:a", {}}, true); }).find("no label"), std::string::npos);
  EXPECT_NE(refusal_of([&] { tables.keep("a b", numbers({1}, {.features = {"x"}})); }), "none");
}

TEST(KeptTables, LabelsAreNumberedForAJobAndThenAsTheyWere) {
  KeptTables tables;
  tables.keep("a", numbers({0, 0}, {.features = {"x"}, .label = "y"}));
  table::Table& kept = tables.find({"table:a", {}}, true);
  kept.label()[0] = 5;
  kept.label()[1] = -1;
  {
    JobTable job(kept);
    job.number_labels({-1, 5}, 1);
    const JobTable moved = std::move(job);
    EXPECT_EQ(moved->label()[0], 1);
    EXPECT_EQ(moved->label()[1], 0);
  }
  EXPECT_EQ(kept.label()[0], 5);
  EXPECT_EQ(refusal_of([&] { JobTable(kept).number_labels({5, 6}, 1); }), "the label of row 1 is -1, allowed are 5, 6");
  EXPECT_EQ(kept.label()[0], 5);
}

const table::Schema kKnown = {.features = {"c"}, .categories = {{0, table::Dictionary({"a", "b", "d"})}}};

TEST(KeptTables, CategoriesGetTheCodesOfTheModel) {
  auto kept = numbers({0, 1, 2, NAN}, {.features = {"c"}, .categories = {{0, table::Dictionary({"b", "c", "d"})}}});
  io::UnknownTexts unknown;
  const JobTable coded = coded_as(kept, kKnown, true, comm::Communicator::self(), unknown);
  const auto codes = coded->feature(0);
  EXPECT_EQ(codes[0], 1);
  EXPECT_TRUE(std::isnan(codes[1]));
  EXPECT_EQ(codes[2], 2);
  EXPECT_TRUE(std::isnan(codes[3]));
  EXPECT_EQ(unknown, (io::UnknownTexts{{"c", 1}}));
  EXPECT_EQ(coded->schema().categories, kKnown.categories);
}

TEST(KeptTables, NothingIsCopiedWhereCodesMeanTheSame) {
  auto kept = numbers({0, 1}, kKnown);
  io::UnknownTexts unknown;
  EXPECT_EQ(&*coded_as(kept, kKnown, true, comm::Communicator::self(), unknown), &kept);
}

TEST(KeptTables, CategoriesAndNumbersDoNotMeet) {
  auto kept = numbers({0, 1}, {.features = {"c"}});
  io::UnknownTexts unknown;
  EXPECT_EQ(refusal_of([&] { coded_as(kept, kKnown, true, comm::Communicator::self(), unknown); }),
            "column c holds numbers, in the model categories: load the table anew, with this column as categorical");
}

}  // namespace
}  // namespace podere::jobs
