#include "podere/columns/arrow_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "podere/base/error.h"
#include "podere/columns/arrow_format.h"

namespace podere::columns {
namespace {

constexpr std::uint32_t kMessageBegin = 0xffffffff;
constexpr std::uint64_t kMostMetadataBytes = (std::uint64_t{1} << 31) - 2;  // FlatBuffers have no more

std::uint32_t arrow_word(const char* p) {
  static_assert(std::endian::native == std::endian::little);
  std::uint32_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

[[noreturn]] void refuse_message(const ArrowBytes& bytes, std::uint64_t begin, const std::string& what) {
  throw_input_error("{}: byte {}: {}", bytes.name, begin, what);
}

const arrow::RecordBatch* batch_of(const arrow::Message& message) {
  if (const arrow::RecordBatch* batch = message.header_as_RecordBatch()) return batch;
  const arrow::DictionaryBatch* dictionary = message.header_as_DictionaryBatch();
  return dictionary == nullptr ? nullptr : dictionary->values();
}

ArrowCodec codec_of(const ArrowBytes& bytes, const ArrowMessage& message, const arrow::RecordBatch& batch) {
  if (batch.compression() == nullptr) {
    // Arrow 0.17 packed buffers before there was a place in the format to say so.
    if (message.root().metadata() == nullptr) return ArrowCodec::kNone;
    for (const arrow::KeyValue* entry : *message.root().metadata()) {
      if (entry->key() == nullptr || entry->key()->str() != "ARROW:experimental_compression") continue;
      refuse_message(bytes, message.begin, "was packed by Arrow 0.17, in a way of its own; write it again");
    }
    return ArrowCodec::kNone;
  }
  const auto codec = batch.compression()->codec();
  if (batch.compression()->method() == 0 && codec == arrow::Codec_Lz4Frame) return ArrowCodec::kLz4;
  if (batch.compression()->method() == 0 && codec == arrow::Codec_Zstd) return ArrowCodec::kZstd;
  refuse_message(bytes, message.begin, "its buffers are packed in a way that is not known");
}

}  // namespace

std::vector<char> ArrowBytes::read(std::uint64_t begin, std::uint64_t n_bytes) const {
  if (begin > size || n_bytes > size - begin) {
    throw_input_error("{}: byte {}: the file is cut or damaged: {} bytes are needed there, and {} are left", name,
                      begin, n_bytes, begin > size ? 0 : size - begin);
  }
  std::vector<char> bytes(static_cast<std::size_t>(n_bytes));
  if (source->cursor_at(begin)->read(bytes) < bytes.size()) throw_input_error("{}: changed while it was read", name);
  return bytes;
}

const arrow::Message& ArrowMessage::root() const { return *arrow::GetMessage(metadata.data()); }

std::optional<ArrowMessage> read_arrow_message(const ArrowBytes& bytes, std::uint64_t begin,
                                               std::optional<std::uint64_t> metadata_bytes) {
  ArrowMessage message;
  message.begin = begin;
  if (begin == bytes.size) return std::nullopt;
  std::uint64_t n_prefix = 4;
  std::uint32_t length = arrow_word(bytes.read(begin, 4).data());
  if (length == kMessageBegin) {
    length = arrow_word(bytes.read(begin + 4, 4).data());
    n_prefix = 8;
  }
  if (length == 0) return std::nullopt;
  if (length > kMostMetadataBytes) refuse_message(bytes, begin, "is no message of Arrow");
  message.metadata = bytes.read(begin + n_prefix, length);
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(message.metadata.data()), length);
  if (!arrow::VerifyMessageBuffer(verifier)) refuse_message(bytes, begin, "is no message of Arrow, or damaged");
  if (message.root().version() < arrow::Version_V4) {
    refuse_message(bytes, begin, "was written by Arrow before 0.8; write it again");
  }
  if (metadata_bytes && *metadata_bytes < n_prefix + length) refuse_message(bytes, begin, "a message is damaged");
  message.body_begin = begin + metadata_bytes.value_or(n_prefix + length);
  const std::int64_t n_body = message.root().body_length();
  if (n_body < 0) refuse_message(bytes, begin, fmt::format("a message has {} bytes", n_body));
  if (message.body_begin > bytes.size || static_cast<std::uint64_t>(n_body) > bytes.size - message.body_begin) {
    refuse_message(bytes, begin,
                   fmt::format("the file is cut: a message has {} bytes and more than there are", n_body));
  }
  message.end = message.body_begin + static_cast<std::uint64_t>(n_body);
  return message;
}

ArrowBatch read_arrow_batch(const ArrowBytes& bytes, const ArrowMessage& message) {
  const arrow::RecordBatch* const batch = batch_of(message.root());
  if (batch == nullptr) refuse_message(bytes, message.begin, "is no record batch");
  const std::uint64_t n_body = message.end - message.body_begin;
  ArrowBatch read;
  if (batch->length() < 0 || batch->length() > std::int64_t{1} << 62) {
    refuse_message(bytes, message.begin, fmt::format("a record batch has {} rows", batch->length()));
  }
  read.n_rows = static_cast<std::uint64_t>(batch->length());
  read.codec = codec_of(bytes, message, *batch);
  for (const arrow::Node& node : copy_vector(batch->nodes())) read.nodes.emplace_back(node.length(), node.n_missing());
  for (const arrow::Buffer& buffer : copy_vector(batch->buffers())) {
    const auto begin = static_cast<std::uint64_t>(buffer.offset());
    const auto n_bytes = static_cast<std::uint64_t>(buffer.length());
    if (begin > n_body || n_bytes > n_body - begin) {
      refuse_message(bytes, message.begin, "a buffer is outside of its record batch");
    }
    read.buffers.push_back({message.body_begin + begin, n_bytes});
  }
  for (const std::int64_t count : copy_vector(batch->variadic_counts())) {
    if (count < 0 || static_cast<std::uint64_t>(count) > read.buffers.size()) {
      refuse_message(bytes, message.begin, fmt::format("texts are in {} buffers", count));
    }
    read.view_buffers.push_back(static_cast<std::size_t>(count));
  }
  return read;
}

ArrowArray array_of(const ArrowBatch& batch, const ArrowField& field) {
  constexpr std::size_t kMostOwnBuffers = 3;
  if (field.first_node >= batch.nodes.size() || field.first_view > batch.view_buffers.size()) {
    throw ArrowDamage{"its record batch has fewer columns than the file"};
  }
  const auto [n_rows, n_missing] = batch.nodes[field.first_node];
  if (n_rows < 0 || static_cast<std::uint64_t>(n_rows) != batch.n_rows) {
    throw ArrowDamage{fmt::format("has {} rows in a record batch of {}", n_rows, batch.n_rows)};
  }
  ArrowArray array = {.n_rows = batch.n_rows, .has_missing = n_missing != 0, .codec = batch.codec};
  const auto views = batch.view_buffers.begin();
  std::size_t n_before = field.first_buffer;
  n_before = std::accumulate(views, views + static_cast<std::ptrdiff_t>(field.first_view), n_before);
  if (!field.dictionary && field.type.storage == ArrowStorage::kTextView) {
    if (field.first_view == batch.view_buffers.size()) throw ArrowDamage{"its texts are in no buffer"};
    array.n_view_buffers = batch.view_buffers[field.first_view];
  }
  const std::size_t begin = std::min(n_before, batch.buffers.size());
  const std::size_t n = std::min(batch.buffers.size() - begin, kMostOwnBuffers + array.n_view_buffers);
  const auto first = batch.buffers.begin() + static_cast<std::ptrdiff_t>(begin);
  array.buffers.assign(first, first + static_cast<std::ptrdiff_t>(n));
  return array;
}

}  // namespace podere::columns
