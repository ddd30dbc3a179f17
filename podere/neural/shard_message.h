// What workers and servers send each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace podere::neural {

/// The values of a shard with a header: gradients to a server, weights from it.
class ShardMessage {
 public:
  struct Header {
    std::uint64_t version =
        0;              ///< of the weights, or of those that the gradient was computed at: gradients since the start
    double weight = 0;  ///< of a gradient: sum of the weights of its rows
    std::uint32_t is_last = 0;  ///< from a worker: it sends no more, and this is none. From a server: the round is over
    std::uint32_t reserved = 0;
  };

  /// Of `n` values.
  explicit ShardMessage(std::size_t n) : bytes_(sizeof(Header) + n * sizeof(float)) {}

  Header header() const {
    Header header;
    std::memcpy(&header, bytes_.data(), sizeof(header));
    return header;
  }
  void set_header(const Header& header) { std::memcpy(bytes_.data(), &header, sizeof(header)); }
  std::span<float> values() { return {reinterpret_cast<float*>(bytes_.data() + sizeof(Header)), n_values()}; }
  std::span<const float> values() const { return const_cast<ShardMessage*>(this)->values(); }
  std::span<std::byte> bytes() { return bytes_; }

 private:
  std::size_t n_values() const { return (bytes_.size() - sizeof(Header)) / sizeof(float); }
  std::vector<std::byte> bytes_;
};

}  // namespace podere::neural
