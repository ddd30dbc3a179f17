// libFuzzer program of the libsvm reader. An input is read twice, in one large chunk and in small ones; both must give
// the same table, or the same InputError. Anything else that is thrown ends the program.
#include <string_view>

#include "podere/io/fuzz_file.h"
#include "podere/io/libsvm.h"

namespace {

/// Whether there is an index so large that rows of so many features would take the fuzzer's memory.
bool has_large_index(std::string_view text) {
  constexpr int kMostDigits = 4;
  int n_digits = 0;
  for (const char c : text) {
    if (c == ':' && n_digits > kMostDigits) return true;
    n_digits = c >= '0' && c <= '9' ? n_digits + 1 : 0;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n_bytes) {
  if (n_bytes > 1 << 12) return 0;  // longer texts find nothing that shorter ones do not, slowly
  static const podere::comm::Environment environment;
  static podere::io::FuzzFile file;
  file.write({bytes, n_bytes});

  // What a text is read with depends on the text, so that a seed is a plain libsvm file.
  podere::io::LibsvmOptions options{.max_line_bytes = 1 << 16};
  const bool is_packed = n_bytes > 1 && bytes[0] == 0x1f && bytes[1] == 0x8b;
  if (is_packed || has_large_index({reinterpret_cast<const char*>(bytes), n_bytes})) options.n_features = 100;
  if (n_bytes % 3 == 1) options.n_features = n_bytes % 32;
  if (n_bytes % 5 == 1) options.zero_based = true;
  if (n_bytes % 5 == 2) options.columns = {"f2", "f1"};
  if (n_bytes % 11 == 1) options.rows.first_row = 1;
  const auto read = [&](int n_threads) {
    return podere::io::outcome(
        [&] { return podere::io::read_libsvm(file.path(), options, podere::comm::Communicator::self(), n_threads); });
  };
  const std::string expected = read(1);
  options.chunk_bytes = 1 + n_bytes % 61;
  podere::io::expect_same(expected, read(n_bytes % 16 == 0 ? 2 : 1),
                          fmt::format("in chunks of {}", options.chunk_bytes));
  return 0;
}
