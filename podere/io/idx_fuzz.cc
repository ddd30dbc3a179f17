// libFuzzer program of the IDX reader. An input is read as a whole and window by window; both must give the same
// values, or the same InputError. Anything else that is thrown ends the program.
#include "podere/io/distributed_reference.h"
#include "podere/io/fuzz_file.h"
#include "podere/io/idx.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n_bytes) {
  if (n_bytes > 1 << 14) return 0;  // longer files find nothing that shorter ones do not, slowly
  static const podere::comm::Environment environment;
  static podere::io::FuzzFile file;
  file.write({bytes, n_bytes});

  // What a file is read with depends on the file, so that a seed is a plain IDX file.
  podere::io::IdxOptions options;
  if (n_bytes % 3 == 1) options.labels = file.path();
  if (n_bytes % 5 == 1) options.columns = {"pixel2", "pixel1"};
  if (n_bytes % 5 == 2) options.columns = {"f0"};
  if (n_bytes % 11 == 1) options.rows.first_row = 1;
  const auto self = podere::comm::Communicator::self();
  const std::string expected = podere::io::outcome([&] { return podere::io::read_idx(file.path(), options, self, 1); });
  const std::string found = podere::io::outcome([&] {
    return podere::io::joined(*podere::io::open_idx(file.path(), options, self, n_bytes % 16 == 0 ? 2 : 1, 1));
  });
  podere::io::expect_same(expected, found, "window by window");
  return 0;
}
