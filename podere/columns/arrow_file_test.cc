#include "podere/columns/arrow_file.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "podere/base/error.h"
#include "podere/columns/arrow_number.h"

namespace podere::columns {
namespace {

const std::filesystem::path kArrowFiles = std::filesystem::path(PODERE_TEST_DATA) / "columns" / "arrow";

std::string arrow_content(const std::string& name) {
  std::ifstream file(kArrowFiles / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A file of any bytes, beside no other of its name.
class DamagedArrowFile {
 public:
  ~DamagedArrowFile() { std::filesystem::remove(path()); }
  void write(std::string_view bytes) const {
    std::ofstream(path(), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::string path() const {
    const bool has_memory = std::filesystem::is_directory("/dev/shm");  // a file in memory: it is written often
    return fmt::format("{}/podere-{}.arrow", has_memory ? "/dev/shm" : testing::TempDir(), getpid());
  }
};

/// All values, as numbers and as texts, or what is wrong.
std::string arrow_outcome(const std::string& path) {
  std::string all;
  try {
    const auto file = open_arrow(path);
    for (std::size_t group = 0; group + 1 < file->group_begins().size(); ++group) {
      const table::RowRange rows = {file->group_begins()[group], file->group_begins()[group + 1]};
      if (rows.size() > 1 << 16) return "many rows";
      for (std::size_t column = 0; column < file->columns().size(); ++column) {
        if (file->columns()[column].kind == Kind::kOther) continue;
        std::vector<float> numbers(static_cast<std::size_t>(rows.size()));
        std::vector<ColumnRead> wanted = {{column, {}, [&](std::size_t row, std::string_view text) {
                                             EXPECT_LT(row, rows.size());
                                             all += fmt::format("{} {} '{}', ", rows.begin + row,
                                                                file->columns()[column].name, text);
                                           }}};
        file->read(rows, wanted);
        if (file->columns()[column].kind == Kind::kText) continue;
        wanted = {{column, numbers}};
        file->read(rows, wanted);
        all += fmt::format("{}, ", fmt::join(numbers, " "));
      }
    }
  } catch (const InputError& error) {
    return fmt::format("refused: {}", error.what());
  } catch (const ColumnFault& fault) {
    return fmt::format("row {}, column {}: {}", fault.row, fault.column, fault.message);
  }
  return all;
}

const std::vector<std::string> kSmallArrowFiles = {"small.arrow",     "small_packed.arrow", "small_views.arrow",
                                                   "legacy.arrow",    "legacy.arrows",      "delta.arrows",
                                                   "replaced.arrows", "nested.arrow"};

TEST(ArrowFileTest, AFileThatIsCutAnywhereIsRefusedAndAStreamHasTheBatchesThatAreLeft) {
  const DamagedArrowFile file;
  for (const std::string& name : kSmallArrowFiles) {
    const std::string whole = arrow_content(name);
    ASSERT_GT(whole.size(), 1000);
    const std::string all = arrow_outcome((kArrowFiles / name).string());
    for (std::size_t size = 0; size < whole.size(); ++size) {
      file.write(std::string_view(whole).substr(0, size));
      const std::string found = arrow_outcome(file.path());
      const bool is_stream = name.ends_with(".arrows");
      EXPECT_TRUE(found.starts_with("refused: ") || (is_stream && all.starts_with(found))) << name << " " << size;
    }
  }
}

TEST(ArrowFileTest, AnyByteThatIsAnotherMakesOtherValuesOrOneMessage) {
  const DamagedArrowFile file;
  for (const std::string& name : kSmallArrowFiles) {
    std::string damaged = arrow_content(name);
    for (std::size_t i = 0; i < damaged.size(); ++i) {
      const int mask = std::array{1, 0x80, 0xff}[i % 3];
      damaged[i] = static_cast<char>(damaged[i] ^ mask);
      file.write(damaged);
      const std::string found = arrow_outcome(file.path());
      EXPECT_TRUE(!found.starts_with("refused") || found.find('\n') == std::string::npos) << found;
      damaged[i] = static_cast<char>(damaged[i] ^ mask);
    }
  }
}

TEST(ArrowFileTest, RowsOfAGroupAreReadFromAnywhere) {
  const auto file = open_arrow((kArrowFiles / "rows.arrow").string());
  const std::vector<std::uint64_t>& begins = file->group_begins();
  ASSERT_EQ(begins, (std::vector<std::uint64_t>{0, 800, 1500}));
  for (std::size_t column = 0; column < file->columns().size(); ++column) {
    const bool is_text = file->columns()[column].kind == Kind::kText;
    const auto read = [&](table::RowRange rows) {
      std::vector<float> numbers(static_cast<std::size_t>(rows.size()));
      std::vector<std::string> texts(numbers.size());
      ColumnRead wanted = {column, numbers};
      if (is_text) wanted = {column, {}, [&](std::size_t row, std::string_view text) { texts.at(row) = text; }};
      file->read(rows, std::vector<ColumnRead>{wanted});
      if (!is_text) {
        for (std::size_t row = 0; row < texts.size(); ++row) texts[row] = fmt::format("{}", numbers[row]);
      }
      return texts;
    };
    const std::vector<std::string> all = read({800, 1500});
    for (const std::uint64_t begin : {0, 1, 7, 8, 9, 64, 699}) {
      for (const std::uint64_t n : {1, 2, 8, 15, 100}) {
        if (begin + n > 700) continue;
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
        EXPECT_EQ(read({800 + begin, 800 + begin + n}), std::vector<std::string>(first, first + static_cast<long>(n)))
            << column << " " << begin << " " << n;
      }
    }
  }
}

TEST(ArrowNumberTest, HalvesAreThoseOfIeee) {
  EXPECT_EQ(from_half(0x3c00), 1.0F);
  EXPECT_EQ(from_half(0xc000), -2.0F);
  EXPECT_EQ(from_half(0x7bff), 65504.0F);
  EXPECT_EQ(from_half(0x0400), std::ldexp(1.0F, -14));
  EXPECT_EQ(from_half(0x0001), std::ldexp(1.0F, -24));
  EXPECT_EQ(from_half(0x7c00), INFINITY);
  EXPECT_EQ(from_half(0xfc00), -INFINITY);
  EXPECT_TRUE(std::isnan(from_half(0x7e00)));
  EXPECT_TRUE(std::signbit(from_half(0x8000)));
}

TEST(ArrowNumberTest, DecimalsAreWrittenWithAllDigitsOfTheirScale) {
  const auto text = [](std::int64_t value, int scale) {
    std::array<std::int64_t, 2> words = {value, value < 0 ? -1 : 0};
    return decimal_text(reinterpret_cast<const std::uint8_t*>(words.data()), sizeof words, scale);
  };
  EXPECT_EQ(text(0, 0), "0");
  EXPECT_EQ(text(0, 2), "0.00");
  EXPECT_EQ(text(5, 2), "0.05");
  EXPECT_EQ(text(-105, 2), "-1.05");
  EXPECT_EQ(text(1'000'000'000, 0), "1000000000");
  EXPECT_EQ(text(12, -3), "12000");
  EXPECT_EQ(text(0, -3), "0");
  EXPECT_EQ(text(INT64_MIN, 18), "-9.223372036854775808");
  const std::array<std::uint8_t, 32> ones = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  EXPECT_EQ(decimal_text(ones.data(), 32, 0), "340282366920938463463374607431768211457");
}

TEST(ArrowNumberTest, DaysKeepTheTimeOfDayHoweverFarTheyAre) {
  constexpr std::int64_t kNanoseconds = 86'400'000'000'000;
  EXPECT_EQ(days_of(kNanoseconds * 20484 + kNanoseconds / 4, kNanoseconds), 20484.25);
  EXPECT_EQ(days_of(-1, 4), -0.25);
  EXPECT_EQ(days_of(-4, 4), -1);
  EXPECT_EQ(days_of(INT64_MIN, 86'400), std::floor(static_cast<double>(INT64_MIN) / 86'400) +
                                            static_cast<double>((INT64_MIN % 86'400 + 86'400) % 86'400) / 86'400);
}

}  // namespace
}  // namespace podere::columns
