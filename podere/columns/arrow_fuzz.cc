// libFuzzer program of the Arrow reader. An input is read as a whole and window by window; both must give the same
// values, or an InputError each. Anything else that is thrown ends the program.
#include "podere/columns/arrow_file.h"
#include "podere/columns/column_rows.h"
#include "podere/io/distributed_reference.h"
#include "podere/io/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n_bytes) {
  if (n_bytes > 1 << 15) return 0;  // longer files find nothing that shorter ones do not, slowly
  static const podere::comm::Environment environment;
  static podere::io::FuzzFile file;
  file.write({bytes, n_bytes});

  // What a file is read with depends on the file, so that a seed is a plain Arrow file.
  podere::io::CsvOptions options;
  if (n_bytes % 3 == 1) options.finds_categories = true;
  if (n_bytes % 5 == 1) options.drop = {"list", "struct", "map", "bytes", "town"};
  if (n_bytes % 5 == 2) options.label = "town";
  if (n_bytes % 7 == 1) options.date_parts = true;
  if (n_bytes % 11 == 1) options.rows.first_row = 1;
  const auto self = podere::comm::Communicator::self();
  const auto open = [&] {
    auto opened = podere::columns::open_arrow(file.path());
    // A file of a few bytes may have many rows that are all missing.
    if (opened->n_rows() > 1 << 16) podere::throw_input_error("{}: has many rows", file.path());
    return opened;
  };
  const std::string expected =
      podere::io::outcome([&] { return podere::columns::read_columns(open, options, self, 1); });
  const std::string found = podere::io::outcome([&] {
    return podere::io::joined(*podere::columns::open_columns(open, options, self, n_bytes % 16 == 0 ? 2 : 1, 1));
  });
  // Damage shows where the rows that are read at once need what is damaged: each way may come to another first.
  if (expected.starts_with(file.path()) && found.starts_with(file.path())) return 0;
  podere::io::expect_same(expected, found, "window by window");
  return 0;
}
