#include "podere/io/remote_arrays.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/http_test_server.h"

namespace podere::io {
namespace {

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// Rows 1 2, 3 4, 5 6 as X, a label and weights.
class RemoteArraysTest : public testing::Test {
 protected:
  RemoteArrays arrays() const {
    return {.token = "secret",
            .n_rows = 3,
            .features = {"a", "b"},
            .values = {server.url("rows"), "float64", false},
            .label = RemoteArray{server.url("y"), "int64", false},
            .weight = RemoteArray{server.url("w"), "float32", false}};
  }
  static table::Table read(const RemoteArrays& arrays, int n_threads = 1) {
    return read_arrays(arrays, comm::Communicator::self(), n_threads);
  }
  static std::string refusal_of(const RemoteArrays& arrays) {
    try {
      read(arrays, 2);
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  }
  static std::vector<float> column(const table::Table& table, std::size_t j) {
    const auto values = table.column(j);
    return {values.begin(), values.end()};
  }

  std::map<std::string, std::string> contents = {{"rows", bytes_of<double>({1, 2, 3, 4, 5, 6})},
                                                 {"columns", bytes_of<double>({1, 3, 5, 2, 4, 6})},
                                                 {"y", bytes_of<std::int64_t>({0, 1, 0})},
                                                 {"w", bytes_of<float>({1, 2, 0.5F})}};
  const HttpTestServer server{[this](const std::string& request) {
    const auto path = request.substr(5, request.find(' ', 5) - 5);
    return http_range_answer(request, contents.at(path));
  }};
};

TEST_F(RemoteArraysTest, AreTheSameByRowsAndByColumnsOnAnyNumberOfThreads) {
  RemoteArrays by_columns = arrays();
  by_columns.values = {server.url("columns"), "float64", true};
  for (const RemoteArrays& any : {arrays(), by_columns}) {
    for (const int n_threads : {1, 3}) {
      const table::Table table = read(any, n_threads);
      EXPECT_EQ(table.n_rows(), 3U);
      EXPECT_EQ(column(table, 0), (std::vector<float>{1, 3, 5}));
      EXPECT_EQ(column(table, 1), (std::vector<float>{2, 4, 6}));
      EXPECT_EQ(std::vector<float>(table.label().begin(), table.label().end()), (std::vector<float>{0, 1, 0}));
      EXPECT_EQ(std::vector<float>(table.weight().begin(), table.weight().end()), (std::vector<float>{1, 2, 0.5F}));
    }
  }
}

TEST_F(RemoteArraysTest, WithoutRowsOrColumnsAreRefused) {
  RemoteArrays none = arrays();
  none.n_rows = 0;
  EXPECT_EQ(refusal_of(none), "X has no rows, or no columns");
  none = arrays();
  none.features.clear();
  EXPECT_EQ(refusal_of(none), "X has no rows, or no columns");
}

TEST_F(RemoteArraysTest, ThatAreShorterThanStatedAreRefused) {
  for (const char* name : {"rows", "y", "w"}) {
    const std::string whole = contents[name];
    contents[name] = whole.substr(0, whole.size() - 1);
    EXPECT_EQ(refusal_of(arrays()),
              fmt::format("{}: {} bytes came, {} were asked for", server.url(name), whole.size() - 1, whole.size()));
    contents[name].clear();
    EXPECT_EQ(refusal_of(arrays()),
              fmt::format("{}: HTTP status 416 in place of bytes 0 to {}", server.url(name), whole.size()));
    contents[name] = whole;
  }
  EXPECT_EQ(refusal_of(arrays()), "none");
}

TEST_F(RemoteArraysTest, AreNotGivenForAnotherToken) {
  RemoteArrays guessed = arrays();
  guessed.token = "guess";
  EXPECT_EQ(refusal_of(guessed), server.url("rows") + ": the token is refused (HTTP status 401)");
}

TEST_F(RemoteArraysTest, OfATypeThatIsNoNumberAreRefused) {
  RemoteArrays objects = arrays();
  objects.values.dtype = "object";
  EXPECT_NE(refusal_of(objects).find("object"), std::string::npos) << refusal_of(objects);
}

TEST_F(RemoteArraysTest, AFaultInThemIsReportedWithItsRow) {
  contents["w"] = bytes_of<float>({1, 2, std::numeric_limits<float>::infinity()});
  const std::string message = refusal_of(arrays());
  EXPECT_EQ(message,
            "sample_weight has NaN, infinity or a value too large for float32 in row 2; allowed are finite numbers");
}

}  // namespace
}  // namespace podere::io
