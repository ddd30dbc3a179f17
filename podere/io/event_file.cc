#include "podere/io/event_file.h"

#include <fmt/format.h>
#include <isa-l/crc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>

#include "podere/base/atomic_file.h"
#include "podere/base/error.h"
#include "podere/io/event.pb.h"

namespace podere::io {
namespace {

namespace fs = std::filesystem;

// Of TensorFlow's types.proto and summary.proto.
constexpr int kDouble = 2;
constexpr int kString = 7;
constexpr int kTensorClass = 2;

static_assert(std::endian::native == std::endian::little);

std::uint32_t masked_crc32c(std::string_view bytes) {
  // The library's own form of CRC-32C begins and ends with all bits inverted once less.
  auto* const begin = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));  // which is only read
  const std::uint32_t crc = ~crc32_iscsi(begin, static_cast<int>(bytes.size()), 0xffffffff);
  return std::rotr(crc, 15) + 0xa282ead8;
}

template <typename Number>
void add_number(std::string& to, Number number) {
  std::array<char, sizeof(Number)> bytes;
  std::memcpy(bytes.data(), &number, sizeof(Number));
  to.append(bytes.data(), bytes.size());
}

std::string to_record(std::string_view event) {
  std::string record;
  add_number(record, static_cast<std::uint64_t>(event.size()));
  add_number(record, masked_crc32c(record));
  record += event;
  add_number(record, masked_crc32c(event));
  return record;
}

proto::Event event_at(EventFile::Moment at) {
  proto::Event event;
  event.set_wall_time(at.wall_time);
  event.set_step(at.step);
  return event;
}

/// A value of the event's summary for one of TensorBoard's plugins.
proto::Tensor& add_tensor(proto::Event& event, std::string_view tag, const char* plugin, int type) {
  proto::Summary::Value& value = *event.mutable_summary()->add_value();
  value.set_tag(tag.data(), tag.size());
  value.mutable_metadata()->mutable_plugin_data()->set_plugin_name(plugin);
  value.mutable_metadata()->set_data_class(kTensorClass);
  value.mutable_tensor()->set_dtype(type);
  return *value.mutable_tensor();
}

void set_shape(proto::TensorShape& to, std::span<const std::int64_t> shape) {
  for (const std::int64_t n : shape) to.add_dim()->set_size(n);
}

struct Bucket {
  double left;
  double right;
  double count = 0;
};

std::vector<Bucket> buckets_of(std::span<const float> values) {
  constexpr std::size_t kBuckets = 30;  // as TensorFlow's own summaries have by default
  double least = std::numeric_limits<double>::infinity();
  double largest = -least;
  double n_finite = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    least = std::min<double>(least, value);
    largest = std::max<double>(largest, value);
    ++n_finite;
  }
  if (n_finite == 0) return {};
  if (least == largest) return {{least - 0.5, least + 0.5, n_finite}};
  const double width = (largest - least) / kBuckets;
  std::vector<Bucket> buckets;
  for (std::size_t k = 0; k < kBuckets; ++k) {
    const auto left = least + static_cast<double>(k) * width;
    buckets.push_back({left, k + 1 == kBuckets ? largest : left + width});
  }
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    const auto k = static_cast<std::size_t>((value - least) / width);
    ++buckets[std::min(k, kBuckets - 1)].count;
  }
  return buckets;
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

/// By which TensorBoard knows them.
constexpr const char* kNameBegin = "events.out.tfevents";

fs::path new_path(const fs::path& folder, double wall_time) {
  static std::atomic<int> n_files = 0;
  return folder / fmt::format("{}.{:010}.{}.{}.{}", kNameBegin, static_cast<std::int64_t>(wall_time), host_name(),
                              getpid(), n_files++);
}

/// Throws InputError if `place`, in which `folder` is or is to be, takes no files, as /proc, whatever its permissions
/// say. One that is full may have room by and by.
void check_makes_files(const fs::path& folder, const fs::path& place) {
  std::string name = (place / ".podere-XXXXXX").string();
  if (mkdtemp(name.data()) != nullptr) {
    rmdir(name.c_str());
  } else if (errno != ENOSPC && errno != EDQUOT) {
    throw_input_error("{}: no files can be made in {}: {}", folder.string(), place.string(), std::strerror(errno));
  }
}

}  // namespace

bool check_event_folder(const fs::path& folder) {
  std::error_code unknown;  // what cannot be looked at cannot be written either
  fs::path place = fs::absolute(folder, unknown);
  while (!fs::exists(place, unknown) && place.has_relative_path()) place = place.parent_path();
  if (!fs::is_directory(place, unknown)) throw_input_error("{}: is not a folder", place.string());
  check_makes_files(folder, place);
  return std::any_of(fs::directory_iterator(folder, unknown), fs::directory_iterator(),
                     [](const auto& file) { return file.path().filename().string().starts_with(kNameBegin); });
}

EventFile::EventFile(const fs::path& folder, double wall_time) : path_(new_path(folder, wall_time)) {
  std::error_code cause;
  fs::create_directories(folder, cause);
  if (cause) throw_input_error("{}: the folder cannot be made: {}", folder.string(), cause.message());
  proto::Event event = event_at({0, wall_time});
  event.set_file_version("brain.Event:2");
  const std::string record = to_record(event.SerializeAsString());
  AtomicFile file(path_);
  file.write(record);
  file.commit_unflushed();
  n_bytes_ = record.size();
}

void EventFile::resume(Moment at) {
  proto::Event event = event_at({at.step + 1, at.wall_time});
  event.mutable_session_log()->set_status(proto::SessionLog::START);
  append(event.SerializeAsString());
}

void EventFile::scalars(Moment at, std::span<const std::pair<std::string, double>> values) {
  proto::Event event = event_at(at);
  for (const auto& [tag, number] : values) {
    proto::Summary::Value& value = *event.mutable_summary()->add_value();
    value.set_tag(tag);
    value.set_simple_value(static_cast<float>(number));
  }
  append(event.SerializeAsString());
}

void EventFile::histogram(Moment at, std::string_view tag, std::span<const float> values) {
  static_assert(sizeof(Bucket) == 3 * sizeof(double));
  const std::vector<Bucket> buckets = buckets_of(values);
  proto::Event event = event_at(at);
  proto::Tensor& tensor = add_tensor(event, tag, "histograms", kDouble);
  set_shape(*tensor.mutable_tensor_shape(), std::array{static_cast<std::int64_t>(buckets.size()), std::int64_t{3}});
  tensor.set_tensor_content(buckets.data(), buckets.size() * sizeof(Bucket));
  append(event.SerializeAsString());
}

void EventFile::text(Moment at, std::string_view tag, std::string_view markdown) {
  proto::Event event = event_at(at);
  proto::Tensor& tensor = add_tensor(event, tag, "text", kString);
  tensor.mutable_tensor_shape();  // of no dimensions
  tensor.add_string_val(markdown.data(), markdown.size());
  append(event.SerializeAsString());
}

void EventFile::graph(double wall_time, std::span<const GraphNode> nodes) {
  proto::GraphDef graph;
  for (const GraphNode& node : nodes) {
    proto::NodeDef& to = *graph.add_node();
    to.set_name(node.name);
    to.set_op(node.op);
    for (const std::string& input : node.inputs) to.add_input(input);
    set_shape(*(*to.mutable_attr())["_output_shapes"].mutable_list()->add_shape(), node.shape);
  }
  proto::Event event = event_at({0, wall_time});
  event.set_graph_def(graph.SerializeAsString());
  append(event.SerializeAsString());
}

void EventFile::append(const std::string& event) {
  const std::string record = to_record(event);
  try {
    write_into(path_, n_bytes_, record);
  } catch (const Error&) {
    std::error_code unknown;
    fs::resize_file(path_, n_bytes_, unknown);  // no reader may take the beginning of a record for its whole
    throw;
  }
  n_bytes_ += record.size();
}

}  // namespace podere::io
