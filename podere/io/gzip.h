// Gzip files (RFC 1952) that can be read from many places.
#pragma once

#include <memory>
#include <vector>

#include "podere/io/byte_source.h"

namespace podere::io {

class Inflater;

/// The text of what was packed by gzip, of one or several members. Inflating can start at the beginning only, or where
/// the state of an inflater was kept: the indexing cursor keeps at most kMaxStates of them (about 40 KB each), evenly
/// spaced. When there are more, it forgets every other one.
class GzipSource : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<RawBytes> packed);
  ~GzipSource() override;

  std::optional<std::uint64_t> size() const override { return {}; }
  std::unique_ptr<ByteCursor> cursor_at(std::uint64_t offset) const override;
  std::unique_ptr<ByteCursor> indexing_cursor() override;
  std::uint64_t stride() const override { return stride_; }

 private:
  static constexpr std::size_t kMaxStates = 256;
  class IndexingCursor;
  void keep(const Inflater& inflater, std::size_t read_bytes);

  std::unique_ptr<RawBytes> packed_;
  std::vector<std::unique_ptr<Inflater>> states_;  // state i stands at text offset i * stride_
  std::uint64_t stride_ = 0;
};

}  // namespace podere::io
