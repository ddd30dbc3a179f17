// Decodes and resizes pictures, one thread: pictures_bench FILE... [--size 299] [--seconds 1]. One JSON line: rate, by
// processor time, and the sum of the bytes, which bench/image_decoding.py checks against Pillow's.
#include <fmt/format.h>
#include <zlib.h>

#include <CLI/CLI.hpp>
#include <ctime>
#include <fstream>
#include <iterator>

#include "podere/base/error.h"
#include "podere/image/decode.h"
#include "podere/image/resize.h"

namespace {

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files;
  std::uint32_t size = 299;
  double seconds = 1;
  CLI::App app("Rate of decoding and resizing");
  app.add_option("files", files)->required();
  app.add_option("--size", size);
  app.add_option("--seconds", seconds);
  CLI11_PARSE(app, argc, argv);
  try {
    std::vector<std::vector<std::uint8_t>> contents;
    for (const std::string& file : files) {
      std::ifstream in(file, std::ios::binary);
      contents.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < files.size(); ++i) {
      const auto small = to_rgb(podere::image::resize(podere::image::decode(contents[i], files[i]), size, size));
      sum = static_cast<std::uint32_t>(crc32(sum, small.pixels.data(), static_cast<uInt>(small.pixels.size())));
    }
    std::size_t n = 0;
    const double begin = processor_seconds();
    for (; processor_seconds() < begin + seconds; ++n) {
      const std::size_t i = n % files.size();
      const auto small = to_rgb(podere::image::resize(podere::image::decode(contents[i], files[i]), size, size));
      if (small.pixels.empty()) return 1;
    }
    fmt::print("{{\"pictures_per_second\": {:.1f}, \"sum\": {}}}\n",
               static_cast<double>(n) / (processor_seconds() - begin), sum);
  } catch (const podere::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
