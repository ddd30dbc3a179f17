#include "podere/io/byte_source.h"

#include <array>
#include <string_view>
#include <utility>

#include "podere/base/error.h"
#include "podere/io/file.h"
#include "podere/io/gzip.h"

namespace podere::io {
namespace {

using namespace std::string_view_literals;

struct OtherKind {
  std::string_view begin;  // of the file; no text begins so
  const char* words;
  const char* advice;
};

constexpr const char* kSaveAsText = "save it as CSV, as pandas does: ";
constexpr const char* kUnpack = "unpack it, or pack it with gzip";

/// Sources: the formats' own specifications.
constexpr std::array kOtherKinds = {
    OtherKind{"PAR1\x15"sv, "a Parquet file", "pandas.read_parquet(FILE).to_csv(CSV, index=False)"},
    OtherKind{"ARROW1\0\0"sv, "an Arrow file", "pandas.read_feather(FILE).to_csv(CSV, index=False)"},
    OtherKind{"\x89HDF\r\n"sv, "an HDF5 file", "pandas.read_hdf(FILE).to_csv(CSV, index=False)"},
    OtherKind{"\xd0\xcf\x11\xe0"sv, "an Excel file", "pandas.read_excel(FILE).to_csv(CSV, index=False)"},
    OtherKind{"\x93NUMPY"sv, "an array of NumPy", "numpy.savetxt(CSV, numpy.load(FILE), delimiter=',')"},
    OtherKind{"SQLite format 3\0"sv, "an SQLite database", nullptr},
    OtherKind{"PK\x03\x04"sv, "a ZIP archive or an Excel file", kUnpack},
    OtherKind{"BZh91AY&SY"sv, "packed with bzip2", kUnpack},
    OtherKind{"\xfd"
              "7zXZ\0"sv,
              "packed with xz", kUnpack},
    OtherKind{"\x28\xb5\x2f\xfd"sv, "packed with zstd", kUnpack}};

/// Throws InputError if bytes that a file begins with say that it is of another kind than can be read.
void refuse_other_kinds(const File& file, std::string_view begin) {
  for (const auto& [magic, words, advice] : kOtherKinds) {
    if (!begin.starts_with(magic)) continue;
    throw_input_error("{}: is {}, allowed are delimited text, libsvm and IDX files, plain or gzip: {}{}", file.name(),
                      words, advice == kUnpack ? "" : kSaveAsText, advice == nullptr ? "query by query" : advice);
  }
}

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& path) {
  File file(path);
  std::array<char, 16> bytes{};
  const std::string_view begin(bytes.data(), file.read_at(0, bytes));
  if (begin.starts_with("\x1f\x8b"sv)) return std::make_unique<GzipSource>(std::move(file));
  refuse_other_kinds(file, begin);
  return std::make_unique<FileSource>(std::move(file));
}

}  // namespace podere::io
