// libFuzzer program of the readers of NumPy's files. An input is read as a whole and window by window; both must give
// the same values, or the same InputError. Anything else that is thrown ends the program.
#include "podere/columns/column_rows.h"
#include "podere/columns/npy_file.h"
#include "podere/columns/npz_file.h"
#include "podere/columns/raw_file.h"
#include "podere/columns/side_by_side.h"
#include "podere/io/distributed_reference.h"
#include "podere/io/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n_bytes) {
  if (n_bytes > 1 << 14) return 0;  // longer files find nothing that shorter ones do not, slowly
  static const podere::comm::Environment environment;
  static podere::io::FuzzFile file;
  file.write({bytes, n_bytes});

  // What a file is read with depends on the file, so that a seed is a plain file.
  podere::io::CsvOptions options;
  if (n_bytes % 3 == 1) options.finds_categories = true;
  if (n_bytes % 5 == 1) options.drop = {"f0"};
  if (n_bytes % 7 == 1) options.date_parts = true;
  if (n_bytes % 11 == 1) options.rows.first_row = 1;
  const auto open = [&] {
    if (n_bytes % 17 == 1) {
      const auto type = static_cast<podere::columns::RawType>(n_bytes % 11);
      return podere::columns::open_raw_rows(file.path(), {.type = type, .n_columns = 1 + n_bytes % 5});
    }
    if (podere::columns::is_npz(file.path())) return podere::columns::open_npz(file.path());
    auto array = podere::columns::open_npy(file.path());
    return n_bytes % 13 == 1 ? podere::columns::with_labels(std::move(array), podere::columns::open_npy(file.path()))
                             : std::move(array);
  };
  const auto self = podere::comm::Communicator::self();
  const std::string expected =
      podere::io::outcome([&] { return podere::columns::read_columns(open, options, self, 1); });
  const std::string found = podere::io::outcome([&] {
    return podere::io::joined(*podere::columns::open_columns(open, options, self, n_bytes % 16 == 0 ? 2 : 1, 1));
  });
  podere::io::expect_same(expected, found, "window by window");
  return 0;
}
