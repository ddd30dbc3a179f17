// What TensorBoard shows of a run in progress.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podere/algorithm/summaries.h"

namespace podere::io {

using algorithm::GraphNode;

/// Whether there are such files in `folder` already. Throws InputError unless more can be made there, or it can be
/// made.
bool check_event_folder(const std::filesystem::path& folder);

/// A file of records in a folder that TensorBoard watches:
///
///   | n_bytes u64 | masked CRC-32C of n_bytes u32 | an Event, n_bytes long | masked CRC-32C of the Event u32 |
///
/// all little-endian, where masked(crc) = (crc rotated right by 15 bits) + 0xa282ead8. Each record is in the file, and
/// seen by others, when the call returns. Methods throw Error that names the file and the cause, InputError where there
/// is no room left; the record is left out then, and later ones may be written.
/// Sources: tensorflow.org/tutorials/load_data/tfrecord, "TFRecords format details"; event.proto.
class EventFile {
 public:
  /// When something was so.
  struct Moment {
    std::int64_t step;
    double wall_time;  ///< seconds since 1970
  };

  /// Makes `folder` if it is not there, and in it a new file events.out.tfevents.SECONDS.HOST.PROCESS.NUMBER. Throws
  /// InputError where that cannot be.
  EventFile(const std::filesystem::path& folder, double wall_time);

  /// The run resumes after `at.step` steps: what other files of the folder say of later ones was lost, and is no longer
  /// shown.
  void resume(Moment at);
  /// Of the tabs Time Series and Scalars, rounded to float32.
  void scalars(Moment at, std::span<const std::pair<std::string, double>> values);
  /// How often values between the least and the largest occur, in 30 buckets of the same width; of the tabs Time
  /// Series, Histograms and Distributions. Values that are not finite are left out.
  void histogram(Moment at, std::string_view tag, std::span<const float> values);
  /// Of the tab Text.
  void text(Moment at, std::string_view tag, std::string_view markdown);
  /// Of the tab Graphs.
  void graph(double wall_time, std::span<const GraphNode> nodes);

  const std::filesystem::path& path() const { return path_; }

 private:
  void append(const std::string& event);

  std::filesystem::path path_;
  std::uint64_t n_bytes_ = 0;
};

}  // namespace podere::io
