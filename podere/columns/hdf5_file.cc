#include "podere/columns/hdf5_file.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/columns/hdf5_process.h"
#include "podere/columns/named_arrays.h"
#include "podere/io/memory_room.h"

namespace podere::columns {
namespace {

constexpr std::string_view kFirstBytes = "\x89HDF\r\n\x1a\n";
constexpr std::uint64_t kFirstPlace = 512, kLastPlace = std::uint64_t{1} << 24;

/// The bytes of an array, as of a file of NumPy without its header.
class ArrayBytes final : public io::ByteSource {
 public:
  ArrayBytes(std::shared_ptr<const Hdf5Processes> processes, std::uint64_t array, std::uint64_t size,
             std::uint64_t stride)
      : processes_(std::move(processes)), array_(array), size_(size), stride_(stride) {}

  std::optional<std::uint64_t> size() const override { return size_; }
  std::uint64_t stride() const override { return stride_; }
  std::unique_ptr<io::ByteCursor> cursor_at(std::uint64_t offset) const override {
    return std::make_unique<Cursor>(*this, offset);
  }

 private:
  class Cursor final : public io::ByteCursor {
   public:
    Cursor(const ArrayBytes& source, std::uint64_t offset) : source_(source), at_(offset) {}
    std::size_t read(std::span<char> bytes) override {
      const auto n =
          static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), source_.size_ - std::min(at_, source_.size_)));
      if (n > 0) source_.processes_->read(source_.array_, at_, std::as_writable_bytes(bytes.first(n)));
      at_ += n;
      return n;
    }

   private:
    const ArrayBytes& source_;
    std::uint64_t at_;
  };

  std::shared_ptr<const Hdf5Processes> processes_;
  std::uint64_t array_, size_, stride_;
};

/// What podere-hdf5 says of an array. Throws InputError for a row that no table can have.
NpyHeader read_header(const std::string& name, const Json& array) {
  NpyHeader header;
  for (const Json& field : array.at("fields")) {
    const auto type_name = field.at("type").get<std::string>();
    NpyType type = parse_npy_type(type_name).value_or(NpyType{.name = type_name});
    header.fields.push_back({field.at("name").get<std::string>(), std::move(type),
                             field.at("offset").get<std::size_t>(), field.at("index").get<bool>() ? kFrameIndex : ""});
  }
  header.has_fields = header.fields.size() != 1 || !header.fields[0].name.empty();
  header.element_bytes = array.at("element_bytes").get<std::uint64_t>();
  header.is_fortran = array.at("fortran").get<bool>();
  header.shape = array.at("shape").get<std::vector<std::uint64_t>>();
  for (std::size_t d = 1; d < header.shape.size(); ++d) {
    const std::uint64_t size = header.shape[d];
    if (size > kMostArrayColumns || header.values_per_row * size > kMostArrayColumns) {
      throw_input_error("{}: dimension {} of {} makes a row of more than the {} values that an array can have", name, d,
                        size, kMostArrayColumns);
    }
    header.values_per_row *= size;
  }
  if (header.fields.size() > io::kMostFeatures || header.element_bytes > kMostNpyRowBytes ||
      header.row_bytes() > kMostNpyRowBytes) {
    throw_input_error("{}: a row has more than {} bytes", name, kMostNpyRowBytes);
  }
  for (const NpyHeader::Field& field : header.fields) {
    const bool has_values = kind_of(field.type) != Kind::kOther;
    if (has_values && (field.offset > header.element_bytes || field.type.bytes > header.element_bytes - field.offset)) {
      throw_input_error("{}: the file is damaged: a value lies outside its row", name);
    }
  }
  return header;
}

ArrayMeaning meaning_of(const Json& array) {
  ArrayMeaning meaning{array.at("coordinate").get<bool>(), array.at("units").get<std::string>()};
  for (const Json& dimension : array.at("dimensions")) {
    meaning.dimensions.emplace_back(dimension.at("name").get<std::string>(), dimension.at("values").get<std::string>());
  }
  return meaning;
}

}  // namespace

bool is_hdf5(const std::string& location) {
  const auto bytes = io::open_raw(location);
  const bool is_remote = location.find("://") != std::string::npos;  // each place is a request
  for (std::uint64_t place = 0; place <= std::min(bytes->size(), is_remote ? kFirstPlace : kLastPlace);
       place = place == 0 ? kFirstPlace : 2 * place) {
    std::array<char, kFirstBytes.size()> begin{};
    if (bytes->read_at(place, begin) == begin.size() && std::string_view(begin.data(), begin.size()) == kFirstBytes) {
      return true;
    }
  }
  return false;
}

std::unique_ptr<ColumnFile> open_hdf5(const std::string& location, const std::string& key,
                                      std::span<const std::string> left_out) try {
  if (location.find("://") != std::string::npos) {
    throw_input_error("{}: HDF5 files are read from file systems only; copy it to one", location);
  }
  if (!is_hdf5(location)) throw_input_error("{}: is no HDF5 file; if it is packed, unpack it", location);
  const io::SourceVersion version = io::version_of(location);
  const auto processes = std::make_shared<const Hdf5Processes>(location, key);
  NamedArrays arrays(location, key);
  const Json contents = Json::parse(processes->contents());
  std::uint64_t n_arrays = 0;
  for (const Json& array : contents.at("arrays")) {
    const auto name = array.at("name").get<std::string>();
    const std::uint64_t place = n_arrays++;
    if (std::ranges::find(left_out, name) != left_out.end()) {
      arrays.add_other(name, "left out");
      continue;
    }
    const std::string shown = location + ": " + name;
    NpyHeader header = read_header(shown, array);
    const std::uint64_t n_rows = header.shape.at(0), row_bytes = header.row_bytes();
    const std::uint64_t stride = array.at("chunk_rows").get<std::uint64_t>() * row_bytes;
    if (row_bytes > 0 && n_rows > std::numeric_limits<std::int64_t>::max() / 2 / row_bytes) {
      throw_input_error("{}: has {} rows, which no file has", shown, n_rows);
    }
    auto bytes = std::make_unique<ArrayBytes>(processes, place, n_rows * row_bytes, stride);
    arrays.add(name, std::make_unique<NpyArray>(shown, location, version, std::move(bytes), std::move(header)),
               meaning_of(array));
  }
  for (const Json& other : contents.at("others")) {
    const auto why = other.at("why").get<std::string>();
    arrays.add_other(other.at("name").get<std::string>(), why,
                     other.at("group").get<bool>()        ? kOtherGroup
                     : other.at("coordinate").get<bool>() ? kCoordinate
                                                          : "");
  }
  return std::move(arrays).as_file();
} catch (const Json::exception&) {
  throw_input_error("{}: the file is damaged: podere-hdf5 cannot say what is in it", location);
}

}  // namespace podere::columns
