// Pictures become the same table on any number of ranks, some of which may have no rows, and are refused alike.
#include <gtest/gtest.h>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/columns/column_rows.h"
#include "podere/io/distributed_reference.h"
#include "podere/source/picture_columns.h"
#include "podere/source/picture_numbers.h"

namespace podere::source {
namespace {

image::Picture make_picture(std::uint64_t i) {
  image::Picture picture(9, 7, i % 2 == 0 ? image::kGray : image::kRgb);
  for (std::size_t k = 0; k < picture.pixels.size(); ++k)
    picture.pixels[k] = static_cast<std::uint8_t>(hash64(3, i, k));
  return picture;
}

PictureRows make_rows(std::uint64_t n, const PictureNumbers& numbers) {
  PictureRows rows{.name = "pictures", .n = n, .columns = numbers.names};
  rows.read = [compute = numbers.compute](std::uint64_t i, std::span<float> values) {
    compute(make_picture(i), "a picture", values);
  };
  rows.label = [](std::uint64_t i) { return i % 5 == 0 ? std::string("tips") : fmt::format("{}", i % 3); };
  return rows;
}

constexpr PictureShape kShape = {.width = 4, .height = 3};

TEST(PictureColumns, AreTheSameOnEveryRank) {
  for (const std::uint64_t n : {1500, 3}) {  // of three, most ranks have none
    PictureShape shape = kShape;
    shape.n_channels = n == 3 ? image::kRgb : image::kGray;
    const io::CsvOptions options{.label = kPictureLabel, .categorical = {kPictureLabel}};
    const auto open = [&] { return picture_columns(make_rows(n, picture_numbers({.shape = shape}))); };
    const auto table = columns::read_columns(open, options, io::world(), 2);
    ASSERT_EQ(table.n_features(), shape.n_values());
    EXPECT_EQ(table.schema().features.front(), "pixel1");
    EXPECT_EQ(table.schema().classes, n == 3 ? (std::vector<std::string>{"1", "2", "tips"})
                                             : (std::vector<std::string>{"0", "1", "2", "tips"}));
    const auto alone = columns::read_columns(open, options, comm::Communicator::self(), 1);
    EXPECT_EQ(io::gathered_bits(table), io::table_bits(alone));
    for (std::size_t row = 0; row < alone.n_rows(); row += 97) {
      const auto picture = to_shape(make_picture(row), shape);
      for (std::size_t j = 0; j < shape.n_values(); ++j) EXPECT_EQ(alone.feature(j)[row], picture.pixels[j]);
    }
    const auto windows = columns::open_columns(open, options, io::world(), 2, 1000);
    EXPECT_EQ(io::table_bits(io::joined(*windows)), io::table_bits(table));
  }
}

TEST(PictureColumns, TheFirstThatCannotBeDecodedIsNamedOnEveryRank) {
  const auto open = [] {
    PictureRows rows = make_rows(3000, picture_numbers({.shape = kShape}));
    rows.read = [whole = rows.read](std::uint64_t i, std::span<float> values) {
      if (i == 2100 || i == 2900) throw InputError(fmt::format("picture {}: is damaged", i));
      whole(i, values);
    };
    return picture_columns(std::move(rows));
  };
  const io::CsvOptions options{.label = kPictureLabel, .categorical = {kPictureLabel}};
  try {
    columns::read_columns(open, options, io::world(), 2);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "picture 2100: is damaged");
  }
}

}  // namespace
}  // namespace podere::source
