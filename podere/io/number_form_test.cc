#include "podere/io/number_form.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <optional>
#include <string>

namespace podere::io {
namespace {

std::optional<float> read(std::size_t form, std::string_view text) {
  const auto value = number_forms()[form].read(text);
  return value ? std::optional(static_cast<float>(*value)) : std::nullopt;
}

/// By the first of the forms that a text is of.
std::optional<float> read_any(std::string_view text) {
  const std::uint64_t forms = forms_of(text);
  return forms == 0 ? std::nullopt : read(static_cast<std::size_t>(std::countr_zero(forms)), text);
}

TEST(NumberForm, NumbersMayHaveADecimalCommaAndGroups) {
  EXPECT_EQ(read(kDecimalComma, "1,5"), 1.5F);
  EXPECT_EQ(read(kDecimalComma, "-3,0e1"), -30.0F);
  EXPECT_EQ(read(kDecimalComma, "1.234.567,25"), 1234567.25F);
  EXPECT_EQ(read(kDecimalComma, "1 234,5"), 1234.5F);
  EXPECT_EQ(read(kDecimalComma,
                 "1\xc2\xa0"
                 "234,5"),
            1234.5F)
      << "no-break space";
  EXPECT_EQ(read(kDecimalComma, "7"), 7.0F);
  EXPECT_EQ(read(kThousands, "1,234"), 1234.0F);
  EXPECT_EQ(read(kThousands, "+12,345,678.5"), 12345678.5F);
  EXPECT_EQ(read(kThousands, "1'234.5"), 1234.5F);
  EXPECT_EQ(read(kThousands, "0.5"), 0.5F);
  EXPECT_EQ(read(kGroups, "12 345"), 12345.0F);
  EXPECT_EQ(read_any("12 %"), 12.0F);
  EXPECT_EQ(read_any("-0.5%"), -0.5F);
  for (const char* text :
       {"1.5", "1,5,3", "1.23,4", "1,5x", ",5", "1.2345,6", "1 23", "1 234.567,8", "", "-", "1,e", "1,5.0"}) {
    EXPECT_EQ(read(kDecimalComma, text), std::nullopt) << text;
  }
  for (const char* text : {"+39 055 123", "055 123 456"}) EXPECT_EQ(forms_of(text), 0) << "of a telephone";
  for (const char* text : {"1,5", "12,34", "1,2345", "1234,567", "1,234,56", ",234", "1,234.5.6", "1,234'567", "0,234",
                           "-0,234", "012,345", "1e", "%"}) {
    EXPECT_EQ(read(kThousands, text), std::nullopt) << text;
  }
  EXPECT_EQ(forms_of(std::string_view("1\0", 2)), 0);
  EXPECT_EQ(forms_of(std::string(100, '1')), 0);
}

TEST(NumberForm, WordsMayBeBooleans) {
  for (const char* text : {"true", "TRUE", "True", "yes", "t", "Y", "on"}) EXPECT_EQ(read_any(text), 1.0F) << text;
  for (const char* text : {"false", "FALSE", "no", "F", "n", "Off"}) EXPECT_EQ(read_any(text), 0.0F) << text;
  EXPECT_EQ(forms_of("true") & forms_of("yes"), 0) << "a column has one pair of words";
  for (const char* text : {"truee", "maybe", "", "tr"}) EXPECT_EQ(forms_of(text), 0) << text;
}

TEST(NumberForm, DatesAreDaysSince1970) {
  EXPECT_EQ(read_any("1970-01-01"), 0.0F);
  EXPECT_EQ(read_any("2026-11-26"), 20783.0F);
  EXPECT_EQ(read_any("1850-03-01"), -43770.0F);
  EXPECT_EQ(read_any("2024-02-29"), 19782.0F);
  for (const char* text :
       {"2026/11/26", "2026.11.26", "26.11.2026", "26/11/2026", "11/26/2026", "26-11-2026", "11-26-2026", "26 Nov 2026",
        "26-Nov-2026", "Nov 26, 2026", "November 26 2026", "2026-NOV-26", "26. Nov 2026"}) {
    EXPECT_EQ(read_any(text), 20783.0F) << text;
  }
  for (const char* text : {"2026-11-26T12:00", "2026-11-26 12:00:00", "26.11.2026  12:00", "11/26/2026 12:00 PM",
                           "26/11/2026 12:00:00.000", "2026-11-26T12:00:00Z", "2026-11-26 13:00:00+01:00",
                           "2026-11-26 07:30:00 -0430", "2026-11-26 12:00:00 UTC"}) {
    EXPECT_EQ(read_any(text), 20783.5F) << text;
  }
  EXPECT_EQ(read_any("06:00"), 0.25F);
  EXPECT_EQ(read_any("6:00:00 pm"), 0.75F);
  EXPECT_EQ(read_any("12:00 am"), 0.0F);
  EXPECT_EQ(forms_of("2026-11-26") & forms_of("2026-11-26 12:00:00Z"), 0) << "with and without a zone are two forms";
}

TEST(NumberForm, DatesHaveParts) {
  const double days = *parse_date("2026-11-26 18:45", "%Y-%m-%d", false);
  const auto part = [&](DatePart wanted) { return part_of_date(days, wanted); };
  EXPECT_EQ(part(DatePart::kYear), 2026);
  EXPECT_EQ(part(DatePart::kMonth), 11);
  EXPECT_EQ(part(DatePart::kDay), 26);
  EXPECT_EQ(part(DatePart::kWeekday), 3) << "Thursday";
  EXPECT_NEAR(part(DatePart::kHour), 18.75, 1e-6);
  EXPECT_EQ(part(DatePart::kNone), days);
  EXPECT_EQ(part_of_date(-0.25, DatePart::kYear), 1969);
  EXPECT_EQ(part_of_date(-0.25, DatePart::kHour), 18);
}

TEST(NumberForm, DaysAndTimesThatAreNotThereAreNone) {
  for (const char* text : {"2026-02-29",
                           "2026-13-01",
                           "2026-00-10",
                           "31.04.2026",
                           "26-11-26",
                           "26.11.26",
                           "0026-11-26",
                           "2026-11-26T",
                           "2026-11-26T25:00",
                           "2026-11-26 12:60",
                           "2026-11-26 12",
                           "2026-11-26x",
                           "2026-11-26 12:00:00 CET",
                           "13:00 pm",
                           "24:01",
                           "5:1",
                           "12:30:5",
                           "1:2:3:4",
                           "10.1.2.3",
                           "2026-11"}) {
    EXPECT_EQ(forms_of(text), 0) << text;
  }
}

}  // namespace
}  // namespace podere::io
