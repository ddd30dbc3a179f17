// What workers and servers send each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace podere::neural {

/// Values of a shard on their way, with what is said of them: gradients to a server, weights from it.
class Parcel {
 public:
  struct Note {
    std::uint64_t version =
        0;              ///< of the weights, or of those that the gradient was taken at: gradients since the start
    double weight = 0;  ///< of a gradient: sum of the weights of its rows
    std::uint32_t is_last = 0;  ///< from a worker: it sends no more, and this is none. From a server: the round is over
    std::uint32_t reserved = 0;
  };

  /// Of `n` values.
  explicit Parcel(std::size_t n) : bytes_(sizeof(Note) + n * sizeof(float)) {}

  Note note() const {
    Note note;
    std::memcpy(&note, bytes_.data(), sizeof(note));
    return note;
  }
  void set_note(const Note& note) { std::memcpy(bytes_.data(), &note, sizeof(note)); }
  std::span<float> values() { return {reinterpret_cast<float*>(bytes_.data() + sizeof(Note)), n_values()}; }
  std::span<const float> values() const { return const_cast<Parcel*>(this)->values(); }
  std::span<std::byte> bytes() { return bytes_; }

 private:
  std::size_t n_values() const { return (bytes_.size() - sizeof(Note)) / sizeof(float); }
  std::vector<std::byte> bytes_;
};

}  // namespace podere::neural
