#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "podere/base/error.h"
#include "podere/base/test_numbers.h"
#include "podere/table/labels.h"

namespace podere::table {
namespace {

/// With labels that follow from global rows. This rank's part of 5000 rows: some ranks may be empty.
Table table_of(const std::function<float(std::uint64_t)>& label_of, const comm::Communicator& comm) {
  Table table({.features = {"a"}, .label = "y"}, 5000, rows_of(5000, comm.rank(), comm.size()));
  for (std::size_t i = 0; i < table.n_rows(); ++i) table.label()[i] = label_of(table.global({i}).value);
  return table;
}

std::optional<std::vector<float>> values_of(const std::function<float(std::uint64_t)>& label_of, std::size_t most = 5) {
  const auto world = comm::Communicator::world();
  return label_values(table_of(label_of, world), most, world);
}

TEST(LabelValues, AreAllDifferentOnesOfAllRanks) {
  using Values = std::vector<float>;
  EXPECT_EQ(values_of([](auto row) { return row < 4999 ? 1.0F : -300.5F; }), (Values{-300.5F, 1}));
  EXPECT_EQ(values_of([](auto row) { return static_cast<float>(row / 1000) * 100; }), (Values{0, 100, 200, 300, 400}));
  EXPECT_EQ(values_of([](auto row) { return row % 2 == 0 ? -0.0F : 0.5F; }), (Values{0, 0.5F}));
  EXPECT_EQ(values_of([](auto row) { return static_cast<float>(row % 6); }), std::nullopt);
  EXPECT_EQ(values_of([](auto row) { return static_cast<float>(row / 800); }), std::nullopt);
  EXPECT_EQ(values_of([](auto row) { return row == 4500 ? kNaN : 1.0F; }), std::nullopt);
  const auto self = comm::Communicator::self();
  EXPECT_EQ(label_values(Table({.features = {"a"}}, 3, {0, 3}), 5, self), std::nullopt);
}

TEST(NumberedLabels, ArePlacesAmongTheClassesOrAsTheyWere) {
  const auto self = comm::Communicator::self();
  Table table = table_of([](auto row) { return row % 2 == 0 ? 7.0F : -2.0F; }, self);
  number_labels(table, {-2, 30, 7}, 2);
  EXPECT_EQ(table.label()[0], 2);
  EXPECT_EQ(table.label()[4999], 0);
  try {
    number_labels(table, {0, 1}, 2);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "the label of row 0 is 2, allowed are 0, 1");
  }
  EXPECT_EQ(table.label()[1], 0);
}

}  // namespace
}  // namespace podere::table
