#include "podere/kube/list_scanner.h"

#include <gtest/gtest.h>

#include <vector>

#include "podere/kube/api_error.h"

namespace podere::kube {
namespace {

struct Scanned {
  std::vector<Json> items;
  Json list;
  bool operator==(const Scanned&) const = default;
};

Scanned scan(const std::string& text, std::size_t piece, std::size_t max_item_bytes = 1000) {
  Scanned scanned;
  ListScanner scanner("GET x", max_item_bytes, [&](Json item) { scanned.items.push_back(std::move(item)); });
  for (std::size_t i = 0; i < text.size(); i += piece) scanner.feed(std::string_view(text).substr(i, piece));
  scanned.list = scanner.finish();
  return scanned;
}

std::string scanner_refusal(const std::string& text) {
  try {
    scan(text, 3);
  } catch (const ConnectionError& error) {
    return error.what();
  }
  return "none";
}

TEST(ListScanner, GivesWhatAWholeParserGives) {
  const std::string text = R"( {"kind":"FarmList", "items" : [ {"a":"]}\"\\"}, {"items":[{"b":[[1],{}]}]} ,{}],
    "metadata":{"items":[1,{"c":"items"}],"resourceVersion":"7"}, "x":"\"items\":["} )";
  const Json whole = Json::parse(text);
  Json rest = whole;
  rest["items"] = Json::array();
  for (const std::size_t piece : {1U, 2U, 7U, 1000U}) {
    const Scanned scanned = scan(text, piece);
    EXPECT_EQ(Json(scanned.items), whole.at("items"));
    EXPECT_EQ(scanned.list, rest);
  }
}

TEST(ListScanner, TakesListsOfNothing) {
  EXPECT_EQ(scan(R"({"kind":"PodList","items":[]})", 1).items.size(), 0U);
  EXPECT_EQ(scan(R"({"kind":"PodList","items":null})", 1).items.size(), 0U);
  EXPECT_EQ(scan(R"({"kind":"PodList"})", 1).items.size(), 0U);
}

TEST(ListScanner, RefusesWhatIsNoList) {
  EXPECT_EQ(scanner_refusal(""), "GET x: the answer is no whole list");
  EXPECT_EQ(scanner_refusal(R"({"kind":"Pod"})"), "GET x: the answer is no whole list");
  EXPECT_EQ(scanner_refusal(R"({"kind":"PodList","items":[{}])"), "GET x: the answer is no whole list");
  EXPECT_EQ(scanner_refusal(R"({"kind":"PodList","items":[{}]}})"), "GET x: the answer is no whole list");
  EXPECT_EQ(scanner_refusal(R"({"kind":"PodList","items":[{]]})"), "GET x: an item is no JSON");
  EXPECT_EQ(scanner_refusal(R"({"kind":"PodList","items":[7]})"), "GET x: an item is no object");
  EXPECT_EQ(scanner_refusal(R"({"kind":"PodList","items":["a"]})"), "GET x: an item is no object");
  EXPECT_EQ(
      scanner_refusal(R"({"kind":"PodList","items":[{"a":)" + std::string(500, '[') + std::string(500, ']') + "}]}"),
      "GET x: an item has more than 1000 bytes");
  EXPECT_EQ(
      scanner_refusal(R"({"kind":"PodList","items":[{"a":)" + std::string(300, '[') + std::string(300, ']') + "}]}"),
      "GET x: an item is nested too deeply");
  EXPECT_NE(scanner_refusal(R"({"kind":"PodList","x":")" + std::string(2 << 20, 'x')).find("more than"),
            std::string::npos);
}

TEST(ListScanner, NeedsNoMoreMemoryForMoreItems) {
  std::size_t n_items = 0;
  ListScanner scanner("GET x", 1000, [&](const Json&) { ++n_items; });
  scanner.feed(R"({"kind":"PodList","items":[)");
  const std::string item = R"({"name":")" + std::string(900, 'x') + R"("},)";
  for (int i = 0; i < 20000; ++i) scanner.feed(item);  // 18 MB, where the rest may have one
  scanner.feed("]}");
  EXPECT_NO_THROW(scanner.finish());
  EXPECT_EQ(n_items, 20000U);
}

}  // namespace
}  // namespace podere::kube
