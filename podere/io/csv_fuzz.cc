// libFuzzer program of the CSV reader. An input is read twice, in one large chunk and in small ones; both must give the
// same table, or the same InputError. Anything else that is thrown ends the program.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "podere/base/error.h"
#include "podere/io/csv.h"
#include "podere/io/csv_reference.h"

namespace {

using podere::io::CsvOptions;

/// The table as text, or what the reader says instead.
std::string outcome(const std::string& path, const CsvOptions& options, int n_threads) {
  try {
    const auto table = podere::io::read_csv(path, options, podere::comm::Communicator::self(), n_threads);
    std::string text = fmt::format("{} rows:", table.n_rows());
    for (const std::string& name : table.schema().features) text += fmt::format(" {}", name);
    for (const std::uint32_t bits : podere::io::table_bits(table)) text += fmt::format(" {:08x}", bits);
    for (const auto& [feature, texts] : table.schema().categories) {
      for (const std::string& category : *texts) text += fmt::format(" {}", category);
    }
    return text;
  } catch (const podere::InputError& error) {
    return error.what();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n_bytes) {
  if (n_bytes > 1 << 14) return 0;  // longer texts find nothing that shorter ones do not, slowly
  static const podere::comm::Environment environment;
  static const int descriptor = memfd_create("csv", MFD_CLOEXEC);
  static const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
  if (ftruncate(descriptor, 0) != 0 || pwrite(descriptor, bytes, n_bytes, 0) != static_cast<ssize_t>(n_bytes)) abort();

  // What a text is read with depends on the text, so that a seed is a plain CSV file.
  CsvOptions options{.max_line_bytes = 1 << 16};
  if (n_bytes % 3 == 1) options.header = n_bytes % 2 == 0;
  if (n_bytes % 5 == 1) options.label = "0";
  if (n_bytes % 5 == 2) options.columns = {"1"};
  if (n_bytes % 5 == 3) options.categorical = {"0", "1"};
  if (n_bytes % 7 == 1) options.delimiter = " ,;\t"[n_bytes % 4];
  if (n_bytes % 11 == 1) options.first_row = 1;
  const std::string expected = outcome(path, options, 1);
  options.chunk_bytes = 1 + n_bytes % 61;
  const std::string found = outcome(path, options, n_bytes % 16 == 0 ? 2 : 1);
  if (found == expected) return 0;
  fmt::print(stderr, "in one chunk: {}\nin chunks of {}: {}\n", expected, options.chunk_bytes, found);
  std::abort();
}
