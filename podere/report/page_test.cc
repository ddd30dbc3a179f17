#include "podere/report/page.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"

namespace podere::report {
namespace {

std::string fault_of(const std::string& text) {
  try {
    runs_of(text, "x.html");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Page, HoldsItsDocument) {
  const Json document = document_of({{{"name", "a </script><!-- \" \\u003c ü"}}});
  const std::string page = html_of(document);
  EXPECT_EQ(runs_of(page, "page"), runs_of(to_text(document), "document"));
  EXPECT_EQ(runs_of(page, "page").at(0).at("name"), "a </script><!-- \" \\u003c ü");
  EXPECT_EQ(page.find("a </script>"), std::string::npos);
}

TEST(Page, RunsOfOneNameGetNumbers) {
  const Json document = document_of({{{"name", "a"}}, {{"name", "a"}}, {{"name", "a (2)"}}, {{"name", "a"}}});
  std::vector<std::string> names;
  for (const Json& run : document.at("runs")) names.push_back(run.at("name"));
  EXPECT_EQ(names, (std::vector<std::string>{"a", "a (2)", "a (2) (2)", "a (3)"}));
}

TEST(Page, HoldsStudiesBesideRuns) {
  const Json study = {{"podere_scale", 1}, {"name", "</script>"}};
  const std::string page = html_of(document_of({{{"name", "a"}}}, {study}));
  EXPECT_EQ(studies_of(page, "page"), std::vector<Json>{study});
  EXPECT_EQ(runs_of(page, "page").size(), 1);
  EXPECT_TRUE(studies_of(html_of(document_of({{{"name", "a"}}})), "page").empty());
  EXPECT_THROW(studies_of(R"({"podere_report": 1, "runs": [], "studies": 1})", "x.html"), InputError);
}

TEST(Page, WhatIsNoReportIsRefused) {
  for (const char* text : {"", "null", "[]", "{", "{}", "<html></html>",
                           R"(<script type="application/json" id="podere-report">null</script>)"}) {
    EXPECT_NE(fault_of(text).find("x.html: is no report of Podere"), std::string::npos) << text;
  }
  EXPECT_NE(fault_of(std::string(1000, '[')).find("is no report"), std::string::npos);
}

TEST(Page, DamagedReportsAreRefused) {
  for (const char* text : {R"({"podere_report": "1", "runs": []})", R"({"podere_report": 0, "runs": []})",
                           R"({"podere_report": 1})", R"({"podere_report": 1, "runs": {}})",
                           R"({"podere_report": 1, "runs": [1]})", R"({"podere_report": 1, "runs": [{"name": 1}]})"}) {
    EXPECT_NE(fault_of(text).find("damaged"), std::string::npos) << text;
  }
}

TEST(Page, AReportOfANewerPodereIsRefusedWithItsVersion) {
  EXPECT_NE(fault_of(R"({"podere_report": 2, "runs": []})").find("version 2; this one reads 1"), std::string::npos);
}

}  // namespace
}  // namespace podere::report
