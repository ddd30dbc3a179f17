#include "podere/io/text_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace podere::io {
namespace {

using namespace std::string_view_literals;

struct OtherKind {
  std::string_view begin;  // of the file; no text begins so
  const char* words;
  const char* advice;
};

constexpr const char* kSaveAsText = "save it as CSV, as pandas does: ";
constexpr const char* kStata = "pandas.read_stata(FILE).to_csv(CSV, index=False)";
constexpr const char* kReadInR = "save it as CSV, as R does: write.csv(TABLE, CSV, row.names = FALSE)";
constexpr const char* kUnpack = "unpack it";
constexpr const char* kOwnFormat = "let its format be found (--format auto)";  // of files that Podere reads

/// Sources: the formats' own specifications.
constexpr std::array kOtherKinds = {
    OtherKind{"PAR1\x15"sv, "a Parquet file", kOwnFormat},
    OtherKind{"ARROW1\0\0"sv, "an Arrow file", kOwnFormat},
    OtherKind{"\x89HDF\r\n"sv, "an HDF5 file", kOwnFormat},
    OtherKind{"\xd0\xcf\x11\xe0"sv, "an Excel file", "pandas.read_excel(FILE).to_csv(CSV, index=False)"},
    OtherKind{"\x93NUMPY"sv, "an array of NumPy", kOwnFormat},
    OtherKind{"SQLite format 3\0"sv, "an SQLite database", nullptr},
    OtherKind{"<stata_dta>"sv, "a Stata file", kStata},
    OtherKind{"\x72\x02\x01\0"sv, "a Stata file", kStata},
    OtherKind{"\x73\x02\x01\0"sv, "a Stata file", kStata},
    OtherKind{"$FL2"sv, "an SPSS file", "pandas.read_spss(FILE).to_csv(CSV, index=False)"},
    OtherKind{"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60"sv, "a SAS file",
              "pandas.read_sas(FILE).to_csv(CSV, index=False)"},
    OtherKind{"\x80\x04\x95"sv, "pickled by Python", "pandas.read_pickle(FILE).to_csv(CSV, index=False)"},
    OtherKind{"\x80\x05\x95"sv, "pickled by Python", "pandas.read_pickle(FILE).to_csv(CSV, index=False)"},
    OtherKind{"RDX2\nX\n"sv, "a file of R", kReadInR},
    OtherKind{"RDX3\nX\n"sv, "a file of R", kReadInR},
    OtherKind{"X\n\0\0\0"sv, "a file of R", kReadInR},
    OtherKind{"root\0\0"sv, "a ROOT file", "podere.read_root(FILE).to_csv(CSV, index=False)"},
    OtherKind{"MATLAB 5.0 MAT-file"sv, "a MATLAB file", "pandas.DataFrame(scipy.io.loadmat(FILE)[NAME]).to_csv(CSV)"},
    OtherKind{"Obj\x01"sv, "an Avro file", "polars.read_avro(FILE).write_csv(CSV)"},
    OtherKind{"@relation"sv, "an ARFF file of Weka", "pandas.DataFrame(scipy.io.arff.loadarff(FILE)[0]).to_csv(CSV)"},
    OtherKind{"@RELATION"sv, "an ARFF file of Weka", "pandas.DataFrame(scipy.io.arff.loadarff(FILE)[0]).to_csv(CSV)"},
    OtherKind{"<?xml"sv, "an XML file", "pandas.read_xml(FILE).to_csv(CSV, index=False)"},
    OtherKind{"<table"sv, "an HTML file", "pandas.read_html(FILE)[0].to_csv(CSV, index=False)"},
    OtherKind{"<html"sv, "an HTML file", "pandas.read_html(FILE)[0].to_csv(CSV, index=False)"},
    OtherKind{"<!DOCTYPE html"sv, "an HTML file", "pandas.read_html(FILE)[0].to_csv(CSV, index=False)"},
    OtherKind{"%PDF-"sv, "a PDF file", "table by table"},
    OtherKind{"\x1f\x9d"sv, "packed with compress", kUnpack},
    OtherKind{"PK\x03\x04"sv, "a ZIP archive or an Excel file, packed once more", kUnpack},
    OtherKind{"7z\xbc\xaf\x27\x1c"sv, "a 7z archive", kUnpack},
    OtherKind{"Rar!\x1a"sv, "a RAR archive", kUnpack},
    OtherKind{"\x1f\x8b"sv, "packed with gzip, and once more", kUnpack},
    OtherKind{"BZh91AY&SY"sv, "packed with bzip2, and once more", kUnpack},
    OtherKind{"\xfd"
              "7zXZ\0"sv,
              "packed with xz, and once more", kUnpack},
    OtherKind{"\x28\xb5\x2f\xfd"sv, "packed with zstd, and once more", kUnpack}};

/// Throws InputError if the first bytes of a file say that it is no text.
void refuse_other_kinds(std::string_view begin, const std::string& name) {
  for (const auto& [magic, words, advice] : kOtherKinds) {
    if (!begin.starts_with(magic)) continue;
    const bool is_whole = advice == kUnpack || advice == kOwnFormat || advice == kReadInR;
    throw_input_error("{}: is {}, allowed is text, plain or packed: {}{}", name, words, is_whole ? "" : kSaveAsText,
                      advice == nullptr ? "query by query" : advice);
  }
  constexpr std::size_t kTarMagic = 257;
  if (begin.size() > kTarMagic && begin.substr(kTarMagic).starts_with("ustar")) {
    throw_input_error("{}: is a tar archive: unpack it and give one of its files", name);
  }
}

/// Text whose lines end with CR alone, as if they ended with LF.
class CrSource : public ByteSource {
 public:
  explicit CrSource(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}
  std::optional<std::uint64_t> size() const override { return source_->size(); }
  std::unique_ptr<ByteCursor> cursor_at(std::uint64_t offset) const override {
    return std::make_unique<Cursor>(source_->cursor_at(offset));
  }
  std::unique_ptr<ByteCursor> indexing_cursor() override {
    return std::make_unique<Cursor>(source_->indexing_cursor());
  }
  std::uint64_t stride() const override { return source_->stride(); }

 private:
  struct Cursor : ByteCursor {
    explicit Cursor(std::unique_ptr<ByteCursor> of_source) : cursor(std::move(of_source)) {}
    std::size_t read(std::span<char> bytes) override {
      const std::size_t n = cursor->read(bytes);
      std::replace(bytes.data(), bytes.data() + n, '\r', '\n');
      return n;
    }
    std::unique_ptr<ByteCursor> cursor;
  };

  std::unique_ptr<ByteSource> source_;
};

std::uint64_t line_number(const ByteSource& source, std::uint64_t offset) {
  const auto cursor = source.cursor_at(0);
  std::vector<char> buffer(1 << 16);
  std::uint64_t number = 1;
  while (offset > 0) {
    const std::size_t n =
        cursor->read({buffer.data(), static_cast<std::size_t>(std::min<std::uint64_t>(offset, buffer.size()))});
    if (n == 0) break;
    number += static_cast<std::uint64_t>(std::count(buffer.data(), buffer.data() + n, '\n'));
    offset -= n;
  }
  return number;
}

}  // namespace

TextFile::TextFile(const std::string& location, std::size_t longest_line_bytes)
    : name(location), version(version_of(location)), max_line_bytes(longest_line_bytes), source(open_bytes(location)) {
  std::vector<char> bytes(1 << 16);
  const std::string_view begin(bytes.data(), source->cursor_at(0)->read(bytes));
  refuse_other_kinds(begin, name);
  const bool ends_lines_with_cr =
      begin.find('\n') == begin.npos && begin.substr(0, begin.size() - 1).find('\r') != begin.npos;
  if (ends_lines_with_cr) source = std::make_unique<CrSource>(std::move(source));
}

std::optional<std::string> find_fault(const comm::Communicator& comm, const std::function<void()>& read) {
  std::string fault;
  comm.agree([&] {
    try {
      read();
    } catch (const TextFileFault& found) {
      fault = found.what();
    }
  });
  const std::vector<std::int32_t> has_fault = comm.all_gather(std::int32_t{fault.empty() ? 0 : 1});
  const auto first = std::ranges::find(has_fault, 1);
  if (first == has_fault.end()) return std::nullopt;
  return comm.broadcast_text(std::move(fault), static_cast<int>(first - has_fault.begin()));
}

void agree_on_fault(const comm::Communicator& comm, const std::function<void()>& read) {
  if (const auto fault = find_fault(comm, read)) throw InputError(*fault);
}

table::RowRange choose_rows(const std::string& name, const RowSelection& chosen, std::uint64_t n_rows) {
  const std::uint64_t first = chosen.first_row;
  const std::uint64_t end = chosen.last_row.value_or(n_rows);
  if (first < end && end <= n_rows) return {first, end};
  throw_input_error("{}: rows {} to {} are asked for, end excluded; there are rows 0 to {}", name, first, end, n_rows);
}

void TextFile::read(table::RowRange rows, const std::function<std::unique_ptr<LineReader>()>& make_reader,
                    int n_threads) const {
  const LinePlan plan{.source = *source,
                      .name = name,
                      .index = index,
                      .text_begin = text_begin,
                      .rows = rows,
                      .max_line_bytes = max_line_bytes};
  try {
    load_lines(plan, make_reader, n_threads);
  } catch (const SourceFault& fault) {
    throw TextFileFault(fmt::format("{}:{}: {}", name, line_number(*source, fault.offset), fault.message));
  }
}

void TextFile::check_unchanged() const {
  if (version_of(name) != version) throw_input_error("{}: changed while it was read", name);
}

}  // namespace podere::io
