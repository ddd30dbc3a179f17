#include "podere/columns/arrow_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "podere/base/error.h"
#include "podere/columns/arrow_format.h"
#include "podere/columns/arrow_message.h"
#include "podere/columns/arrow_schema.h"
#include "podere/columns/arrow_values.h"
#include "podere/io/byte_source.h"

namespace podere::columns {
namespace {

constexpr std::string_view kArrowMagic = "ARROW1";
constexpr std::string_view kFeatherV1Magic = "FEA1";
constexpr std::size_t kBatchesKept = 16;

/// A message in a file.
struct MessagePlace {
  std::uint64_t begin = 0;
  std::optional<std::uint64_t> metadata_bytes = {};
};

/// What a dictionary is from a record batch on.
struct DictionaryVersion {
  std::size_t first_batch = 0;
  std::vector<MessagePlace> parts;  // one after another
};

class ArrowFile final : public ColumnFile {
 public:
  explicit ArrowFile(const std::string& location) : version_(io::version_of(location)) {
    bytes_.name = location;
    bytes_.source = io::open_bytes(location);
    if (!bytes_.source->size()) {
      throw_input_error("{}: is packed as a whole: unpack it; Arrow can pack what is in a file (compression=\"zstd\")",
                        location);
    }
    bytes_.size = *bytes_.source->size();
    const std::vector<char> first = bytes_.read(0, std::min<std::uint64_t>(bytes_.size, kArrowMagic.size()));
    const std::string_view begin(first.data(), first.size());
    if (begin.starts_with(kFeatherV1Magic)) {
      throw_input_error("{}: is of the first version of Feather; write it again with version=2", location);
    }
    if (begin == kArrowMagic) {
      open_file();
    } else {
      open_stream();
    }
  }

  const std::string& name() const override { return bytes_.name; }
  const std::vector<Column>& columns() const override { return schema_.columns; }
  const std::vector<std::uint64_t>& group_begins() const override { return group_begins_; }
  bool columns_lie_apart() const override { return true; }

  void read(table::RowRange rows, std::span<const ColumnRead> wanted) const override {
    if (rows.size() == 0 || wanted.empty()) return;
    const auto group =
        static_cast<std::size_t>(std::ranges::upper_bound(group_begins_, rows.begin) - group_begins_.begin()) - 1;
    const std::shared_ptr<const ArrowBatch> batch = batch_of(group);
    const std::uint64_t begin = group_begins_[group];
    for (const ColumnRead& column : wanted) {
      try {
        const ArrowField& field = schema_.fields[column.column];
        const std::shared_ptr<const ArrowDictionary> dictionary = dictionary_of(group, column.column);
        read_arrow_column(bytes_, array_of(*batch, field), field, dictionary.get(),
                          {rows.begin - begin, rows.end - begin}, rows.begin, column);
      } catch (const ArrowDamage& damage) {
        throw ColumnFault{rows.begin, column.column, damage.message};
      }
    }
  }

  void check_unchanged() const override {
    if (io::version_of(name()) != version_) throw_input_error("{}: changed while it was read", name());
  }

 private:
  /// The file:
  ///
  ///     ARROW1 0 0 | stream | footer | bytes of the footer: 4, little-endian | ARROW1
  void open_file() {
    constexpr std::uint64_t kBegin = 8, kEnd = 10;
    if (bytes_.size < kBegin + kEnd) throw_input_error("{}: the file is cut: it has no footer", name());
    const std::vector<char> end = bytes_.read(bytes_.size - kEnd, kEnd);
    if (std::string_view(end.data(), end.size()).substr(4) != kArrowMagic) {
      throw_input_error("{}: the file is cut or damaged: it does not end with {}", name(), kArrowMagic);
    }
    std::uint32_t n_footer;
    std::memcpy(&n_footer, end.data(), sizeof n_footer);
    if (n_footer == 0 || n_footer > INT32_MAX - 1 || n_footer > bytes_.size - kBegin - kEnd) {
      throw_input_error("{}: its footer has {} bytes, which is damaged", name(), n_footer);
    }
    const std::vector<char> metadata = bytes_.read(bytes_.size - kEnd - n_footer, n_footer);
    flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(metadata.data()), metadata.size());
    if (!verifier.VerifyBuffer<arrow::Footer>()) throw_input_error("{}: its footer is damaged", name());
    const auto& footer = *flatbuffers::GetRoot<arrow::Footer>(metadata.data());
    if (footer.schema() == nullptr) throw_input_error("{}: its footer is damaged: it has no columns", name());
    read_schema(*footer.schema(), metadata.size(), footer.version());
    for (const arrow::Block& block : copy_vector(footer.dictionaries())) add_dictionary(message_of(block), true);
    for (const arrow::Block& block : copy_vector(footer.batches())) add_batch(message_of(block));
  }

  void open_stream() {
    std::optional<ArrowMessage> message = read_arrow_message(bytes_, 0);
    const arrow::Schema* const schema = message ? message->root().header_as_Schema() : nullptr;
    if (schema == nullptr) throw_input_error("{}: is neither a file nor a stream of Arrow", name());
    read_schema(*schema, message->metadata.size(), message->root().version());
    for (;;) {
      message = read_arrow_message(bytes_, message->end);
      if (!message) return;
      if (message->root().header_type() == arrow::Header_DictionaryBatch) {
        add_dictionary({*message, {message->begin}}, false);
      } else {
        add_batch({*message, {message->begin}});
      }
    }
  }

  void read_schema(const arrow::Schema& schema, std::size_t n_bytes, arrow::Version version) {
    if (version < arrow::Version_V4) throw_input_error("{}: was written by Arrow before 0.8; write it again", name());
    schema_ = read_arrow_schema(name(), schema, n_bytes, version < arrow::Version_V5);
  }

  struct PlacedMessage {
    ArrowMessage message;
    MessagePlace place;
  };

  PlacedMessage message_of(const arrow::Block& block) {
    const auto n_metadata = static_cast<std::uint64_t>(std::max(block.metadata_length(), 0));
    // Each block lies apart, so that the time to read them has a bound.
    n_metadata_ += n_metadata;
    const auto begin = static_cast<std::uint64_t>(block.offset());
    if (n_metadata_ > bytes_.size || begin > bytes_.size) {
      throw_input_error("{}: its footer is damaged: a record batch is outside of the file", name());
    }
    const MessagePlace place = {begin, n_metadata};
    return {read_message(place), place};
  }

  ArrowMessage read_message(const MessagePlace& place) const {
    std::optional<ArrowMessage> message = read_arrow_message(bytes_, place.begin, place.metadata_bytes);
    if (!message) throw_input_error("{}: byte {}: there is no record batch", name(), place.begin);
    return std::move(*message);
  }

  void add_dictionary(const PlacedMessage& placed, bool is_file) {
    const arrow::DictionaryBatch* const batch = placed.message.root().header_as_DictionaryBatch();
    if (batch == nullptr) throw_input_error("{}: byte {}: is no dictionary", name(), placed.place.begin);
    std::vector<DictionaryVersion>& versions = dictionaries_[batch->id()];
    if (versions.empty() || !batch->is_delta()) {
      if (is_file && !versions.empty()) {
        throw_input_error("{}: byte {}: replaces a dictionary, which Arrow allows in streams alone", name(),
                          placed.place.begin);
      }
      versions.push_back({batches_.size(), {}});
    }
    versions.back().parts.push_back(placed.place);
  }

  void add_batch(const PlacedMessage& placed) {
    const arrow::RecordBatch* const batch = placed.message.root().header_as_RecordBatch();
    if (batch == nullptr) throw_input_error("{}: byte {}: is no record batch", name(), placed.place.begin);
    constexpr std::int64_t kMostRows = std::int64_t{1} << 48;
    if (batch->length() < 0 || batch->length() > kMostRows - static_cast<std::int64_t>(n_rows())) {
      throw_input_error("{}: byte {}: a record batch has {} rows", name(), placed.place.begin, batch->length());
    }
    if (batch->length() == 0) return;
    batches_.push_back(placed.place);
    group_begins_.push_back(n_rows() + static_cast<std::uint64_t>(batch->length()));
  }

  /// The places of its arrays. Several tasks read columns of one batch, one soon after another.
  std::shared_ptr<const ArrowBatch> batch_of(std::size_t group) const {
    const std::lock_guard lock(mutex_);
    if (kept_batches_.size() >= kBatchesKept && !kept_batches_.contains(group)) kept_batches_.clear();
    std::shared_ptr<const ArrowBatch>& batch = kept_batches_[group];
    if (!batch) {
      batch = std::make_shared<ArrowBatch>(read_arrow_batch(bytes_, read_message(batches_[group])));
      if (batch->n_rows != group_begins_[group + 1] - group_begins_[group]) {
        throw_input_error("{}: changed while it was read", name());
      }
    }
    return batch;
  }

  /// As it is for a group; null: the column has none.
  std::shared_ptr<const ArrowDictionary> dictionary_of(std::size_t group, std::size_t column) const {
    const ArrowField& field = schema_.fields[column];
    if (!field.dictionary) return nullptr;
    const auto known = dictionaries_.find(*field.dictionary);
    if (known == dictionaries_.end()) return std::make_shared<ArrowDictionary>();
    const std::vector<DictionaryVersion>& versions = known->second;
    const auto behind = std::ranges::upper_bound(versions, group, {}, &DictionaryVersion::first_batch);
    if (behind == versions.begin()) return std::make_shared<ArrowDictionary>();
    const auto version = static_cast<std::size_t>(behind - versions.begin()) - 1;
    const std::lock_guard lock(dictionary_mutex_);
    auto& [kept_version, kept] = kept_dictionaries_[column];
    if (kept && kept_version == version) return kept;
    const auto dictionary = std::make_shared<ArrowDictionary>();
    ArrowField values = {.type = field.type};
    for (const MessagePlace& part : versions[version].parts) {
      const ArrowBatch batch = read_arrow_batch(bytes_, read_message(part));
      dictionary->add(bytes_, array_of(batch, values), field.type);
    }
    kept_version = version;
    kept = dictionary;
    return kept;
  }

  io::SourceVersion version_;
  ArrowBytes bytes_;
  ArrowSchema schema_;
  std::vector<std::uint64_t> group_begins_ = {0};
  std::vector<MessagePlace> batches_;                                    // of each group
  std::map<std::int64_t, std::vector<DictionaryVersion>> dictionaries_;  // by id
  std::uint64_t n_metadata_ = 0;                                         // bytes of all blocks so far

  mutable std::mutex mutex_;
  mutable std::map<std::size_t, std::shared_ptr<const ArrowBatch>> kept_batches_;  // guarded by mutex_
  mutable std::mutex dictionary_mutex_;
  /// Of each column, that of one version. Guarded by dictionary_mutex_.
  mutable std::map<std::size_t, std::pair<std::size_t, std::shared_ptr<const ArrowDictionary>>> kept_dictionaries_;
};

}  // namespace

std::unique_ptr<ColumnFile> open_arrow(const std::string& location) { return std::make_unique<ArrowFile>(location); }

}  // namespace podere::columns
