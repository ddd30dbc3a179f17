// libFuzzer program of the frames of rows. The first byte says how many features a block has; the rest are a hello and
// frames. Whatever else is thrown than an Error ends the program.
#include <cstring>
#include <string_view>

#include "podere/base/error.h"
#include "podere/io/row_frames.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n_bytes) {
  if (n_bytes == 0) return 0;
  const std::size_t width = 1 + bytes[0] % 3;
  podere::io::RowLayout layout = {.schema = {.features = {"x"}, .label = "y", .weight = "w"}, .blocks = {width, 1}};
  for (std::size_t j = 0; j < width; ++j) layout.schema.features.push_back(std::string(1, static_cast<char>('a' + j)));
  std::size_t place = 1;
  const podere::io::ReadBytes read = [&](std::span<std::byte> to) {
    if (to.size() > n_bytes - place) throw podere::Error("cut off");
    if (!to.empty()) std::memcpy(to.data(), bytes + place, to.size());
    place += to.size();
  };
  try {
    podere::io::check_layout(layout);
    podere::io::check_hello(read, "token");
    podere::io::RoundedWholes rounded(layout.schema.features.size());
    podere::io::FrameReader frames(layout, "partition 0", read);
    std::uint64_t n_rows = 0;
    while (const auto rows = frames.next(rounded)) n_rows += rows->n_rows();
    if (n_rows != frames.n_rows()) __builtin_trap();
  } catch (const podere::Error&) {
  }
  return 0;
}
