#include "podere/io/event_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"
#include "podere/io/event.pb.h"

namespace podere::io {
namespace {

namespace fs = std::filesystem;

/// Bit by bit, as the polynomial says.
std::uint32_t plain_crc32c(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0U);
  }
  return ~crc;
}

std::uint32_t masked(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8U; }

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <typename Number>
Number take(std::string_view& bytes) {
  Number number{};
  EXPECT_GE(bytes.size(), sizeof(Number));
  std::memcpy(&number, bytes.data(), sizeof(Number));
  bytes.remove_prefix(sizeof(Number));
  return number;
}

/// The events of a file whose every byte is as it must be.
std::vector<proto::Event> events_of(const fs::path& path) {
  std::vector<proto::Event> events;
  const std::string content = content_of(path);
  for (std::string_view rest = content; !rest.empty();) {
    const std::string_view length = rest.substr(0, 8);
    const auto n_bytes = take<std::uint64_t>(rest);
    EXPECT_EQ(take<std::uint32_t>(rest), masked(plain_crc32c(length)));
    if (n_bytes > rest.size()) {
      ADD_FAILURE() << "a record of " << n_bytes << " bytes is cut short";
      return events;
    }
    const std::string_view event = rest.substr(0, n_bytes);
    rest.remove_prefix(n_bytes);
    EXPECT_EQ(take<std::uint32_t>(rest), masked(plain_crc32c(event)));
    EXPECT_TRUE(events.emplace_back().ParseFromArray(event.data(), static_cast<int>(event.size())));
  }
  return events;
}

std::vector<std::vector<double>> rows_of(const proto::Tensor& tensor) {
  EXPECT_EQ(tensor.tensor_shape().dim_size(), 2);
  const auto n_rows = static_cast<std::size_t>(tensor.tensor_shape().dim(0).size());
  const auto n_columns = static_cast<std::size_t>(tensor.tensor_shape().dim(1).size());
  EXPECT_EQ(tensor.tensor_content().size(), n_rows * n_columns * sizeof(double));
  std::vector rows(n_rows, std::vector<double>(n_columns));
  std::string_view bytes = tensor.tensor_content();
  for (auto& row : rows) {
    for (double& value : row) value = take<double>(bytes);
  }
  return rows;
}

class EventFileTest : public testing::Test {
 protected:
  std::vector<std::vector<double>> histogram_of(const std::vector<float>& values) {
    EventFile file(folder_, 1);
    file.histogram({3, 1}, "w", values);
    return rows_of(events_of(file.path()).at(1).summary().value(0).tensor());
  }

  const TemporaryFolder temporary_{fs::temp_directory_path()};
  const fs::path folder_ = temporary_.path() / "runs" / "first";
};

TEST(Crc32c, IsThatOfTheStandard) {
  EXPECT_EQ(plain_crc32c("123456789"), 0xe3069283U);  // RFC 3720, appendix B.4, has others of the same kind
}

TEST_F(EventFileTest, IsNamedAsTensorBoardSeeksItAndBeginsWithItsVersion) {
  const EventFile file(folder_, 1234567.5);
  EXPECT_TRUE(file.path().filename().string().starts_with("events.out.tfevents.0001234567."));
  const auto events = events_of(file.path());
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].file_version(), "brain.Event:2");
  EXPECT_EQ(events[0].wall_time(), 1234567.5);
  EXPECT_NE(EventFile(folder_, 1234567.5).path(), file.path());
}

TEST_F(EventFileTest, EachRecordIsThereWhenTheCallReturns) {
  EventFile file(folder_, 1);
  for (int step = 0; step < 3; ++step) {
    file.scalars({step, 2.5}, std::vector<std::pair<std::string, double>>{{"loss", 0.25 * step}, {"auc", 0.5}});
    const auto events = events_of(file.path());
    ASSERT_EQ(events.size(), static_cast<std::size_t>(step) + 2);
    EXPECT_EQ(events.back().step(), step);
    EXPECT_EQ(events.back().wall_time(), 2.5);
    ASSERT_EQ(events.back().summary().value_size(), 2);
    EXPECT_EQ(events.back().summary().value(0).tag(), "loss");
    EXPECT_EQ(events.back().summary().value(0).simple_value(), 0.25F * static_cast<float>(step));
    EXPECT_EQ(events.back().summary().value(1).tag(), "auc");
  }
}

TEST_F(EventFileTest, RecordsOfAllLengthsHaveTheirChecksums) {
  EventFile file(folder_, 1);
  for (std::size_t n = 0; n < 300; ++n) file.text({0, 0}, "t", std::string(n, '\xe9'));
  file.text({0, 0}, "t", std::string(1 << 20, 'x'));
  EXPECT_EQ(events_of(file.path()).size(), 302U);
}

TEST_F(EventFileTest, AHistogramCountsValuesBetweenItsEdges) {
  std::vector<float> values;
  for (int i = 0; i <= 60; ++i) values.push_back(static_cast<float>(i));
  values.push_back(std::numeric_limits<float>::quiet_NaN());
  values.push_back(std::numeric_limits<float>::infinity());
  const auto buckets = histogram_of(values);
  ASSERT_EQ(buckets.size(), 30U);
  for (std::size_t k = 0; k < 30; ++k) {
    EXPECT_DOUBLE_EQ(buckets[k][0], 2.0 * static_cast<double>(k));
    EXPECT_DOUBLE_EQ(buckets[k][1], 2.0 * static_cast<double>(k + 1));
    EXPECT_EQ(buckets[k][2], k == 29 ? 3 : 2);  // the largest value belongs to the last one
  }
}

TEST_F(EventFileTest, AHistogramOfEqualValuesHasOneBucketAndOneOfNoneHasNone) {
  EXPECT_EQ(histogram_of({4, 4, 4}), (std::vector<std::vector<double>>{{3.5, 4.5, 3}}));
  EXPECT_TRUE(histogram_of({}).empty());
}

TEST_F(EventFileTest, PluginsFindWhatIsTheirs) {
  EventFile file(folder_, 1);
  file.histogram({7, 0}, "w", std::vector<float>{1, 2});
  file.text({0, 0}, "options", "| a |");
  file.resume({40, 0});
  file.graph(5, std::vector<GraphNode>{{"features", "Placeholder", {}, {-1, 4}},
                                       {"layer_1/sum", "MatMul", {"features"}, {-1, 2}}});
  const auto events = events_of(file.path());
  ASSERT_EQ(events.size(), 5U);
  const auto& histogram = events[1].summary().value(0);
  EXPECT_EQ(histogram.metadata().plugin_data().plugin_name(), "histograms");
  EXPECT_EQ(histogram.tensor().dtype(), 2);
  const auto& text = events[2].summary().value(0);
  EXPECT_EQ(text.metadata().plugin_data().plugin_name(), "text");
  EXPECT_EQ(text.tensor().string_val(0), "| a |");
  EXPECT_EQ(events[3].session_log().status(), proto::SessionLog::START);
  EXPECT_EQ(events[3].step(), 41);
  proto::GraphDef graph;
  ASSERT_TRUE(graph.ParseFromString(events[4].graph_def()));
  ASSERT_EQ(graph.node_size(), 2);
  EXPECT_EQ(graph.node(1).input(0), "features");
  EXPECT_EQ(graph.node(1).attr().at("_output_shapes").list().shape(0).dim(1).size(), 2);
}

TEST_F(EventFileTest, ARecordThatFoundNoRoomLeavesTheFileWholeAndLaterOnesFollow) {
  EventFile file(folder_, 1);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit small{.rlim_cur = 1000, .rlim_max = old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(file.text({1, 0}, "t", std::string(2000, 'x')), InputError);
  file.text({2, 0}, "t", "short");
  setrlimit(RLIMIT_FSIZE, &old);
  const auto events = events_of(file.path());
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[1].step(), 2);
}

TEST_F(EventFileTest, AFolderThatCannotBeMadeIsRefused) {
  std::ofstream(temporary_.path() / "file") << "x";
  EXPECT_THROW(EventFile(temporary_.path() / "file" / "run", 1), InputError);
  EXPECT_THROW(EventFile(temporary_.path() / "file", 1), InputError);
  EXPECT_THROW(check_event_folder(temporary_.path() / "file" / "run"), InputError);
  EXPECT_THROW(check_event_folder(temporary_.path() / "file"), InputError);
  EXPECT_THROW(check_event_folder("/proc/run"), InputError);  // to root its permissions allow it
  check_event_folder(folder_);
  EXPECT_FALSE(fs::exists(folder_.parent_path()));
  check_event_folder(temporary_.path());
}

}  // namespace
}  // namespace podere::io
