// libFuzzer program of the CSV reader. An input is read twice, in one large chunk and in small ones; both must give the
// same table, or the same InputError. Anything else that is thrown ends the program.
#include "podere/io/csv.h"
#include "podere/io/fuzz_file.h"

using podere::io::CsvOptions;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n_bytes) {
  if (n_bytes > 1 << 14) return 0;  // longer texts find nothing that shorter ones do not, slowly
  static const podere::comm::Environment environment;
  static podere::io::FuzzFile file;
  file.write({bytes, n_bytes});

  // What a text is read with depends on the text, so that a seed is a plain CSV file.
  CsvOptions options{.max_line_bytes = 1 << 16};
  if (n_bytes % 3 == 1) options.header = n_bytes % 2 == 0;
  if (n_bytes % 5 == 1) options.label = "0";
  if (n_bytes % 5 == 2) options.columns = {"1"};
  if (n_bytes % 5 == 3) options.categorical = {"0", "1"};
  if (n_bytes % 5 == 4) options.drop = {"1"};
  options.counts_texts = n_bytes % 13 < 3;
  if (n_bytes % 7 == 1) options.delimiter = " ,;\t"[n_bytes % 4];
  if (n_bytes % 17 < 4) options.comment = '#';
  if (n_bytes % 19 < 3) options.finds_categories = true;
  if (n_bytes % 23 < 3) options.decimal = n_bytes % 2 == 0 ? ',' : '.';
  if (n_bytes % 29 < 8) options.day_first = n_bytes % 2 == 0;
  if (n_bytes % 11 == 1) options.rows.first_row = 1;
  const auto read = [&](int n_threads) {
    return podere::io::outcome(
        [&] { return podere::io::read_csv(file.path(), options, podere::comm::Communicator::self(), n_threads); });
  };
  const std::string expected = read(1);
  // What is packed may be large: many chunks of it would take the memory.
  const bool may_be_packed =
      n_bytes > 0 && std::string_view("\x28\xfd\x04PBL").find(static_cast<char>(bytes[0])) != std::string_view::npos;
  options.chunk_bytes = may_be_packed ? 1 << 14 : 1 + n_bytes % 61;
  podere::io::expect_same(expected, read(n_bytes % 16 == 0 ? 2 : 1),
                          fmt::format("in chunks of {}", options.chunk_bytes));
  return 0;
}
