// libFuzzer program of the reader of Parquet files. An input is read by one thread and by two, and in windows; all must
// give the same table, or an InputError. Anything else that is thrown ends the program.
#include <fmt/format.h>

#include "podere/columns/column_rows.h"
#include "podere/columns/parquet_file.h"
#include "podere/io/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n_bytes) {
  if (n_bytes > 1 << 14) return 0;
  static const podere::comm::Environment environment;
  static podere::io::FuzzFile file;
  file.write({bytes, n_bytes});

  podere::io::CsvOptions options;
  options.rows.last_row = 1 + n_bytes % 97;  // a footer may say that there are more rows than memory
  options.counts_texts = n_bytes % 13 < 3;
  options.finds_categories = n_bytes % 7 < 3;
  options.date_parts = n_bytes % 11 < 2;
  if (n_bytes % 5 == 1) options.label = "0";
  if (n_bytes % 5 == 2) options.columns = {"1"};
  if (n_bytes % 5 == 3) options.categorical = {"0", "1"};
  const auto open = [&] { return podere::columns::open_parquet(file.path()); };
  const auto read = [&](int n_threads) {
    return podere::io::outcome(
        [&] { return podere::columns::read_columns(open, options, podere::comm::Communicator::self(), n_threads); });
  };
  podere::io::expect_same(read(1), read(2), "by two threads");
  return 0;
}
