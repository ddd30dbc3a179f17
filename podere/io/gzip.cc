#include "podere/io/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "podere/base/error.h"

namespace podere::io {

/// Inflates from where it stands. A copy stands at the same place and has input of its own.
class Inflater : public ByteCursor {
 public:
  explicit Inflater(const RawBytes& packed) : packed_(packed) {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
  }
  Inflater(const Inflater& other)
      : packed_(other.packed_),
        next_input_(other.next_input_ - other.stream_.avail_in),
        position_(other.position_),
        in_member_(other.in_member_),
        is_behind_member_(other.is_behind_member_) {
    if (inflateCopy(&stream_, const_cast<z_stream*>(&other.stream_)) != Z_OK) throw std::bad_alloc();
    stream_.avail_in = 0;
  }
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() override { inflateEnd(&stream_); }

  std::uint64_t position() const { return position_; }

  std::size_t read(std::span<char> bytes) override {
    std::size_t done = 0;
    while (done < bytes.size() && fill_input()) {
      const auto room = static_cast<uInt>(std::min<std::size_t>(bytes.size() - done, 1U << 30));
      stream_.next_out = reinterpret_cast<Bytef*>(bytes.data() + done);
      stream_.avail_out = room;
      in_member_ = true;
      const int result = inflate(&stream_, Z_NO_FLUSH);
      done += room - stream_.avail_out;
      if (result == Z_STREAM_END) {  // another member may follow
        in_member_ = false;
        is_behind_member_ = true;
        inflateReset(&stream_);
      } else if (result == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        throw_input_error("{}: the gzip data are damaged: {}", packed_.name(),
                          stream_.msg ? stream_.msg : "bad stream");
      }
    }
    position_ += done;
    return done;
  }

 private:
  /// Whether there is something to inflate, or text that still waits inside zlib. Zeros behind a member, which tapes
  /// and blocks are filled up with, are nothing, as for gzip itself.
  bool fill_input() {
    while (take_input()) {
      for (; is_behind_member_ && stream_.avail_in > 0 && *stream_.next_in == 0; --stream_.avail_in) ++stream_.next_in;
      if (stream_.avail_in == 0) continue;
      is_behind_member_ = false;
      return true;
    }
    return false;
  }

  bool take_input() {
    if (stream_.avail_in > 0) return true;
    input_.resize(1 << 16);
    const std::size_t n = packed_.read_at(next_input_, input_);
    if (n == 0 && in_member_) throw_input_error("{}: the gzip data are cut short", packed_.name());
    next_input_ += n;
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(n);
    return n > 0;
  }

  const RawBytes& packed_;
  z_stream stream_{};
  std::vector<char> input_;
  std::uint64_t next_input_ = 0;  // in what is packed, behind input_
  std::uint64_t position_ = 0;    // in the text
  bool in_member_ = false;
  bool is_behind_member_ = false;  // where zeros count for nothing
};

class GzipSource::IndexingCursor : public ByteCursor {
 public:
  explicit IndexingCursor(GzipSource& source) : source_(source), inflater_(*source.packed_) {}
  std::size_t read(std::span<char> bytes) override {
    source_.keep(inflater_, bytes.size());
    return inflater_.read(bytes);
  }

 private:
  GzipSource& source_;
  Inflater inflater_;
};

GzipSource::GzipSource(std::unique_ptr<RawBytes> packed) : packed_(std::move(packed)) {}
GzipSource::~GzipSource() = default;

void GzipSource::keep(const Inflater& inflater, std::size_t read_bytes) {
  if (stride_ == 0) stride_ = read_bytes;
  if (inflater.position() != states_.size() * stride_) return;
  states_.push_back(std::make_unique<Inflater>(inflater));
  if (states_.size() < kMaxStates) return;
  for (std::size_t i = 0; 2 * i < states_.size(); ++i) states_[i] = std::move(states_[2 * i]);
  states_.resize((states_.size() + 1) / 2);
  stride_ *= 2;
}

std::unique_ptr<ByteCursor> GzipSource::indexing_cursor() {
  states_.clear();
  stride_ = 0;
  return std::make_unique<IndexingCursor>(*this);
}

std::unique_ptr<ByteCursor> GzipSource::cursor_at(std::uint64_t offset) const {
  std::unique_ptr<Inflater> inflater;
  if (states_.empty()) {
    inflater = std::make_unique<Inflater>(*packed_);
  } else {
    inflater = std::make_unique<Inflater>(*states_[std::min<std::uint64_t>(offset / stride_, states_.size() - 1)]);
  }
  skip_bytes(*inflater, offset - inflater->position());
  return inflater;
}

}  // namespace podere::io
