// Features of pictures that were computed before, kept on the disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace podere::classify {

/// $XDG_CACHE_HOME/podere/features, or ~/.cache/podere/features; empty if neither is known.
std::filesystem::path usual_feature_cache();

struct FeatureCacheOptions {
  std::filesystem::path folder;  ///< of the features of all networks
  std::string fingerprint;       ///< of the network, as of PictureLayer
  std::size_t n_values = 0;      ///< features of a picture
  std::uint64_t n_pictures = 0;  ///< that may be added: for so many room is made
  int n_writers = 1;  ///< processes that add to it at the same time, which share what is left of `most_bytes`
  std::uint64_t most_bytes = std::uint64_t{4} << 30;  ///< of all networks
};

/// The features of pictures by the SHA-256 of their bytes, for a network and this version of Podere. A file of records
/// of one size for each process that adds to it, which holds a lock on it meanwhile:
///
///     folder/NETWORK/0.features   [key | n_values float32 | check] [key | n_values float32 | check] ...
///
/// What others add meanwhile is not seen. Records that are cut off or damaged are as good as not there, by their check.
/// The disk is never the cause of a failure: what cannot be read is computed, what cannot be written is not kept.
/// Where all of it would be larger than most_bytes, networks go that were not used for the longest time. Thread-safe.
class FeatureCache {
 public:
  explicit FeatureCache(const FeatureCacheOptions& options);
  ~FeatureCache();
  FeatureCache(const FeatureCache&) = delete;
  FeatureCache& operator=(const FeatureCache&) = delete;

  /// Whether it has the features of the picture with this SHA-256; then they are in `values` [n_values].
  bool find(const std::string& sha256, std::span<float> values) const;
  void add(const std::string& sha256, std::span<const float> values);

 private:
  struct Place {
    int descriptor;
    std::uint64_t offset;
  };

  void read_keys(const std::filesystem::path& file);
  void open_own_file();
  std::size_t record_bytes() const;

  std::filesystem::path network_;  // its folder
  std::size_t n_values_;
  std::vector<int> descriptors_;
  mutable std::mutex mutex_;  // of what follows
  std::map<std::string, Place> places_;
  int own_ = -1;  // the file that this process adds to; -1: none
  bool is_full_ = false;
  std::uint64_t own_size_ = 0;
  std::uint64_t bytes_left_ = 0;
};

}  // namespace podere::classify
